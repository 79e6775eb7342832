/** Alias actions: all of a request succeed, or none has an effect. */

import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { isTrue } from "../json/flag.ts";
import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { type Aliases, aliasesMissing, readAlias } from "./aliases.ts";
import { noSuchIndex } from "./errors.ts";
import { lenientOptions, select } from "./expression.ts";
import type { IndexRegistry } from "./index-registry.ts";
import { aliasesOf, knownIndices } from "./index-registry.ts";
import { OwnMapping, ownMapping } from "./own-mapping.ts";

const kinds = ["add", "remove", "remove_index"] as const;

export interface AliasChange {
  readonly kind: (typeof kinds)[number];
  /** Index expressions. */
  readonly indices: readonly string[];
  /** Alias names; those to remove may be patterns. */
  readonly aliases: readonly string[];
  /** Properties of the alias to add. */
  readonly given: JsonObject;
  readonly mustExist: boolean | undefined;
}

/** Reads the body of `POST /_aliases`. @throws VendorError */
export function readAliasChanges({ actions }: JsonObject): AliasChange[] {
  const list = Array.isArray(actions) ? actions : [];
  if (list.length === 0) throw illegalArgument("No action specified");
  return list.map(readChange);
}

function readChange(json: Json): AliasChange {
  const [[name, action] = ["", null], ...others] = isObject(json) ? Object.entries(json) : [];
  const kind = kinds.find((known) => known === name);
  if (others.length > 0 || kind === undefined || !isObject(action)) {
    const cause = { type: "x_content_parse_exception", reason: `[alias_action] unknown field [${name}]` };
    const reason = "[aliases] failed to parse field [actions]";
    throw new VendorError(400, { ...cause, reason, caused_by: cause });
  }
  const { index, indices, alias, aliases, must_exist, ...given } = action;
  const change = {
    kind,
    indices: texts(index, indices),
    aliases: texts(alias, aliases),
    given,
    mustExist: must_exist === undefined ? undefined : isTrue(must_exist),
  };
  if (change.indices.length === 0) throw illegalArgument("One of [index] or [indices] is required");
  if (kind !== "remove_index" && change.aliases.length === 0) {
    throw illegalArgument("One of [alias] or [aliases] is required");
  }
  return change;
}

function texts(one: Json | undefined, several: Json | undefined): string[] {
  const given = one ?? several;
  return (Array.isArray(given) ? given : given === undefined ? [] : [given]).map(String);
}

/** @throws VendorError before anything changes */
export async function changeAliases(changes: readonly AliasChange[], registry: IndexRegistry): Promise<void> {
  const store = await registry.store();
  const known = await knownIndices(registry);
  const names = new Set(known);
  const context = {
    known,
    fidelity: registry.fidelity,
    nowMs: registry.clock.now(),
    purpose: "write",
  } as const;
  await store.exclusively(async (writer) => {
    const changed = new Map<string, Aliases>();
    const removed = new Set<string>();
    for (const change of changes) {
      const found = change.indices.flatMap((index) => select(index, lenientOptions, context).names);
      const [absent] = change.indices;
      if (found.length === 0 && absent !== undefined) throw noSuchIndex(absent);
      let wasThere = false;
      for (const index of found) {
        if (change.kind === "remove_index") {
          removed.add(index);
          names.delete(index);
          continue;
        }
        const before = changed.get(index) ?? aliasesOf(index, writer.fields, registry);
        const after = applyChange(change, before, names);
        wasThere ||= Object.keys(after).length < Object.keys(before).length;
        changed.set(index, after);
      }
      if (change.kind === "remove" && !wasThere && change.mustExist !== false)
        throw aliasesMissing(change.aliases);
    }
    for (const [index, aliases] of changed) {
      const own = ownMapping(writer.fields, index);
      if (removed.has(index)) continue;
      if (own) await writer.defineIndex(index, new OwnMapping(index, { ...own.described, aliases }));
      else registry.datasetAliases.set(index, aliases);
    }
    for (const index of removed) {
      await writer.removeIndex(index);
      registry.datasetAliases.delete(index);
    }
  });
}

function applyChange(
  { kind, aliases, given }: AliasChange,
  before: Aliases,
  names: ReadonlySet<string>,
): Aliases {
  if (kind === "add") {
    const added = aliases.map((alias) => [alias, readAlias(alias, given, names)] as const);
    return { ...before, ...Object.fromEntries(added) };
  }
  const left = Object.entries(before).filter(
    ([alias]) => !aliases.some((pattern) => pattern === "_all" || matchesPattern(alias, pattern)),
  );
  return Object.fromEntries(left);
}
