/**
 * Index templates and component templates, in `vendor` fidelity: defaults for new indices. A reset removes them.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/index-templates.html
 */

import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { isObject } from "../json/object.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { readAlias } from "./aliases.ts";
import { readMapping } from "./read-mapping.ts";
import { flatten, nest, readSettings } from "./settings.ts";

export class Templates {
  /** By name, in the form that answers show. */
  readonly index = new Map<string, JsonObject>();
  readonly component = new Map<string, JsonObject>();

  clear(): void {
    this.index.clear();
    this.component.clear();
  }

  /** @throws VendorError */
  putComponent(name: string, body: JsonObject): void {
    const { template, ...others } = body;
    if (!isObject(template)) throw illegalArgument("Required [template]");
    readMapping(template.mappings ?? {});
    this.component.set(name, { template: readTemplate(template), ...others });
  }

  /** @throws VendorError */
  putIndex(name: string, { index_patterns, template, composed_of, ...others }: JsonObject): void {
    if (index_patterns === undefined) throw illegalArgument("Required [index_patterns]");
    const components = texts(composed_of);
    const missing = components.filter((component) => !this.component.has(component));
    const tolerated = texts(others.ignore_missing_component_templates);
    const refused = missing.filter((component) => !tolerated.includes(component));
    if (refused.length > 0) {
      throw new VendorError(400, {
        type: "invalid_index_template_exception",
        reason: `index_template [${name}] invalid, cause [index template [${name}] specifies component templates [${refused.join(", ")}] that do not exist]`,
      });
    }
    const made: JsonObject = {
      index_patterns: texts(index_patterns),
      ...(isObject(template) ? { template: readTemplate(template) } : {}),
      composed_of: components,
      ...others,
    };
    this.#checkPriority(name, made);
    try {
      readMapping(this.#compose(made).mappings);
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      throw invalidComposition(name, error);
    }
    this.index.set(name, made);
  }

  /** @throws VendorError for components that a template is composed of */
  checkUnused(components: readonly string[]): void {
    const users = [...this.index].filter(([, { composed_of }]) =>
      texts(composed_of).some((component) => components.includes(component)),
    );
    if (users.length === 0) return;
    throw illegalArgument(
      `component templates [${components.join(", ")}] cannot be removed as they are still in use by index templates [${users.map(([name]) => name).join(", ")}]`,
    );
  }

  /** The body of a create request, with the matching template's values where the request has none. */
  apply(name: string, { mappings = {}, settings = {}, aliases = {}, ...others }: JsonObject): JsonObject {
    const template = this.#findMatching(name);
    if (!template) return { mappings, settings, aliases, ...others };
    const composed = this.#compose(template);
    return {
      ...others,
      mappings: isObject(mappings) ? overlayMappings(composed.mappings, mappings) : mappings,
      settings: isObject(settings) ? { ...composed.settings, ...readSettings(settings) } : settings,
      aliases: isObject(aliases) ? { ...composed.aliases, ...aliases } : aliases,
    };
  }

  #findMatching(name: string): JsonObject | undefined {
    return [...this.index.values()]
      .filter(({ index_patterns }) => texts(index_patterns).some((pattern) => matchesPattern(name, pattern)))
      .sort((a, b) => priorityOf(b) - priorityOf(a))[0];
  }

  /** Merges the components in order, then the template's own part. */
  #compose({ composed_of, template }: JsonObject): Required<Composed> {
    const parts = [
      ...texts(composed_of).map((component) => this.component.get(component)?.template),
      template,
    ].filter((part) => isObject(part));
    return parts.reduce<Required<Composed>>(
      (before, { mappings, settings, aliases }) => ({
        mappings: isObject(mappings) ? overlayMappings(before.mappings, mappings) : before.mappings,
        settings: { ...before.settings, ...(isObject(settings) ? readSettings(settings) : {}) },
        aliases: { ...before.aliases, ...(isObject(aliases) ? aliases : {}) },
      }),
      { mappings: {}, settings: {}, aliases: {} },
    );
  }

  #checkPriority(name: string, made: JsonObject): void {
    const priority = priorityOf(made);
    const patterns = texts(made.index_patterns);
    const rivals = [...this.index].filter(
      ([other, { index_patterns, ...rest }]) =>
        other !== name &&
        priorityOf(rest) === priority &&
        texts(index_patterns).some((one) => patterns.some((pattern) => overlap(one, pattern))),
    );
    if (rivals.length === 0) return;
    const listed = rivals.map(
      ([other, { index_patterns }]) => `${other} => [${texts(index_patterns).join(", ")}]`,
    );
    throw illegalArgument(
      `index template [${name}] has index patterns [${patterns.join(", ")}] matching patterns from existing templates [${rivals.map(([other]) => other).join(",")}] with patterns (${listed.join(",")}) that have the same priority [${priority}], multiple index templates may not match during index creation, please use a different priority`,
    );
  }
}

interface Composed {
  mappings?: JsonObject;
  /** By full name. */
  settings?: JsonObject;
  aliases?: JsonObject;
}

/** Checks the `template` part and returns it in the form that answers show. @throws VendorError */
function readTemplate({ mappings, settings, aliases, ...others }: JsonObject): JsonObject {
  const given = isObject(aliases) ? Object.entries(aliases) : [];
  const shownAliases = given.map(([name, alias]) => [name, readAlias(name, alias, new Set())] as const);
  return {
    ...others,
    ...(isObject(settings) ? { settings: showSettings(settings) } : {}),
    ...(mappings === undefined ? {} : { mappings }),
    ...(aliases === undefined ? {} : { aliases: Object.fromEntries(shownAliases) }),
  };
}

function showSettings(settings: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(nest(flatten(readSettings(settings)))));
}

/**
 * Overlays one template's mappings on another's: the later field replaces the earlier one unchecked, and objects are
 * merged.
 */
function overlayMappings(there: JsonObject, added: JsonObject): JsonObject {
  const { properties, dynamic_templates, ...others } = added;
  const [before, after] = [there.properties, properties];
  const merged: JsonObject = isObject(before) ? { ...before } : {};
  for (const [name, node] of isObject(after) ? Object.entries(after) : []) {
    const known = merged[name];
    const areObjects =
      isObject(known) && isObject(node) && isObject(known.properties) && isObject(node.properties);
    merged[name] = areObjects ? overlayMappings(known, node) : node;
  }
  const rules = [...list(dynamic_templates), ...list(there.dynamic_templates)];
  const first = new Map(rules.map((rule) => [Object.keys(isObject(rule) ? rule : {})[0], rule]));
  return {
    ...there,
    ...others,
    ...(rules.length === 0 ? {} : { dynamic_templates: [...first.values()] }),
    ...(Object.keys(merged).length === 0 ? {} : { properties: merged }),
  };
}

function invalidComposition(name: string, { cause }: VendorError): VendorError {
  return new VendorError(400, {
    type: "illegal_argument_exception",
    reason: `composable template [${name}] template after composition is invalid`,
    caused_by: {
      type: "illegal_argument_exception",
      reason: `invalid composite mappings for [${name}]`,
      caused_by: cause,
    },
  });
}

/** Whether some name can match both patterns. */
function overlap(a: string, b: string): boolean {
  let reachable = new Set([0]);
  const closed = (places: ReadonlySet<number>) => {
    const all = new Set(places);
    for (let at = 0; at < b.length; at++) if (all.has(at) && b[at] === "*") all.add(at + 1);
    return all;
  };
  reachable = closed(reachable);
  for (const character of a) {
    const next = new Set<number>();
    for (const at of reachable) {
      if (character === "*") for (let later = at; later <= b.length; later++) next.add(later);
      else if (b[at] === "*") next.add(at);
      else if (b[at] === character) next.add(at + 1);
    }
    reachable = closed(next);
  }
  return reachable.has(b.length);
}

function priorityOf({ priority }: JsonObject): number {
  return Number(priority ?? 0);
}

function texts(json: Json | undefined): string[] {
  return typeof json === "string" ? [json] : list(json).map(String);
}

function list(json: Json | undefined): readonly Json[] {
  return Array.isArray(json) ? json : [];
}
