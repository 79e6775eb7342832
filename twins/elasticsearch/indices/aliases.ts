/**
 * Other names of indices, in `vendor` fidelity. The definition of a created index holds its aliases; the aliases of the dataset's
 * indices live in the index registry until a reset.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/aliases.html
 */

import { isTrue } from "../json/flag.ts";
import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { brokenNameRule } from "./errors.ts";

/** The aliases of one index, each with its properties. */
export type Aliases = Readonly<Record<string, JsonObject>>;

/** One index behind an alias. */
export interface AliasTarget {
  readonly index: string;
  readonly isWriteIndex: boolean | undefined;
}

export type AliasTargets = ReadonlyMap<string, readonly AliasTarget[]>;

/**
 * The index that documents written under a name go to. @throws VendorError for an alias without a single write index
 */
export function writeIndexOf(name: string, aliases: AliasTargets): string {
  const targets = aliases.get(name);
  if (!targets) return name;
  const [only, other] = targets;
  const writes = targets.find(({ isWriteIndex }) => isWriteIndex);
  if (writes) return writes.index;
  if (only && !other && only.isWriteIndex !== false) return only.index;
  throw illegalArgument(
    `no write index is defined for alias [${name}]. The write index may be explicitly disabled using is_write_index=false or the alias points to multiple indices without one being designated as a write index`,
  );
}

/** The index of a document read under a name. @throws VendorError for an alias of several indices */
export function readIndexOf(name: string, aliases: AliasTargets): string {
  const targets = aliases.get(name);
  if (!targets) return name;
  const [only, other] = targets;
  if (only && !other) return only.index;
  const listed = targets.map(({ index }) => index).join(", ");
  throw illegalArgument(
    `alias [${name}] has more than one index associated with it [${listed}], can't execute a single index op`,
  );
}

const members = new Set([
  "filter",
  "routing",
  "index_routing",
  "search_routing",
  "is_write_index",
  "is_hidden",
]);

/**
 * Reads the properties of an alias, as they are shown again.
 * @param taken names of indices
 * @throws VendorError for unknown properties, and for a filter, which has no effect here
 */
export function readAlias(name: string, json: Json, taken: ReadonlySet<string>): JsonObject {
  const rule = brokenNameRule(name.toLowerCase());
  if (rule !== undefined) throw invalidAlias(name, rule);
  if (taken.has(name)) {
    throw invalidAlias(name, "an index or data stream exists with the same name as the alias");
  }
  if (!isObject(json)) throw illegalArgument(`alias [${name}] must be an object`);
  for (const member of Object.keys(json)) {
    if (!members.has(member)) throw illegalArgument(`Unknown field [${member}] in alias [${name}]`);
  }
  const { filter, routing, is_write_index, is_hidden } = json;
  if (filter !== undefined && filter !== null) {
    throw illegalArgument(
      `[filter] of alias [${name}] is not supported here: this stand-in has aliases without a filter`,
    );
  }
  const { index_routing = routing, search_routing = routing } = json;
  return {
    ...(index_routing === undefined ? {} : { index_routing: String(index_routing) }),
    ...(search_routing === undefined ? {} : { search_routing: String(search_routing) }),
    ...(is_write_index === undefined ? {} : { is_write_index: isTrue(is_write_index) }),
    ...(is_hidden === undefined ? {} : { is_hidden: isTrue(is_hidden) }),
  };
}

function invalidAlias(name: string, rule: string): VendorError {
  return new VendorError(400, {
    type: "invalid_alias_name_exception",
    reason: `Invalid alias name [${name}]: ${rule}`,
    ...(rule.startsWith("an index") ? {} : { index_uuid: "_na_" }),
  });
}

export function aliasesMissing(names: readonly string[]): VendorError {
  const listed = names.join(",");
  return new VendorError(404, {
    type: "aliases_not_found_exception",
    reason: `aliases [${listed}] missing`,
    "resource.type": "aliases",
    "resource.id": listed,
  });
}
