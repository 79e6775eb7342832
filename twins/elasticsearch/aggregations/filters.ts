/** `filter`, `filters`, `global`: buckets by queries, and of all documents. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { parsingErrorAt } from "../json/located-error.ts";
import type { JsonPath } from "../json/position.ts";
import { tokenOf } from "../json/token.ts";
import type { Aggregation } from "./aggregation.ts";
import { type AggregationType, type Building, type Create, contentsOf } from "./build.ts";
import { type ConditionBucket, conditionBuckets } from "./conditions.ts";
import type { SyntaxContext } from "./context.ts";
import { argumentError } from "./errors.ts";
import { isRecord, type JsonRecord, MAX_ITEMS } from "./options.ts";
import type { Place } from "./syntax/declared.ts";

/** Its body is a query. */
export const filterType: AggregationType = {
  cardinality: "one",
  read: (json, { path }, context) =>
    contentsOf({}, { filters: [["filter", context.readFilter(json, path)]] }),
  build({ naming, contents, buildChildren }) {
    const create = buildChildren();
    const condition = contents.filters[0]?.[1]() ?? raw("TRUE");
    return () => ({ kind: "single", ...naming, condition, children: create() });
  },
};

export const filtersType: AggregationType = { cardinality: "many", read: readFilters, build: buildFilters };

/** The vendor reads these token by token. */
function readFilters(json: JsonRecord, place: Place, context: SyntaxContext) {
  const options = new Map<string, unknown>();
  const filters: (readonly [string, () => Sql])[] = [];
  for (const [member, value] of Object.entries(json)) {
    const path: JsonPath = [...place.path, member];
    if (member === "filters" && typeof value === "object" && value !== null) {
      const entries = Object.entries(value);
      checkCount(entries.length);
      options.set("named", isRecord(value));
      for (const [key, query] of entries) {
        const step = isRecord(value) ? key : Number(key);
        filters.push([key, context.readFilter(query, [...path, step])]);
      }
    } else if (acceptsValue(member, value)) options.set(member, value);
    else {
      const reason = `Unknown key for a ${tokenOf(value)} in [${place.name}]: [${member}].`;
      throw parsingErrorAt({ path, what: "value" }, reason);
    }
  }
  if (filters.length === 0) throw argumentError("[filters] cannot be empty.");
  return contentsOf(Object.fromEntries(options), { filters });
}

function acceptsValue(member: string, value: unknown): boolean {
  if (member === "other_bucket" || member === "keyed") return typeof value === "boolean";
  return member === "other_bucket_key" && typeof value === "string";
}

function checkCount(count: number): void {
  if (count <= MAX_ITEMS) return;
  throw argumentError(`[filters] has ${count} filters, more than the ${MAX_ITEMS} that are answered`);
}

function buildFilters({ naming, options, contents, buildChildren }: Building): Create<Aggregation> {
  const create = buildChildren();
  const otherKey = options.text("other_bucket_key");
  const named = options.boolean("named") ?? false;
  const keyed = options.boolean("keyed") ?? true;
  const showKey = named && !keyed;
  const bucket = (key: string, condition: Sql): ConditionBucket => ({
    condition,
    key,
    before: showKey ? [["key", key]] : [],
  });
  // Named filters are sorted by their names.
  const filters = named
    ? contents.filters.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    : contents.filters;
  const buckets = filters.map(([key, compile]) => bucket(key, compile()));
  if (options.boolean("other_bucket") ?? otherKey !== undefined) {
    const others = joined(
      buckets.map(({ condition }) => sql`NOT ${condition}`),
      " AND ",
    );
    buckets.push(bucket(otherKey ?? "_other_", sql`(${others})`));
  }
  return () =>
    conditionBuckets({
      naming,
      typeName: "filters",
      children: create(),
      buckets,
      keyed: named && keyed,
      overlap: true,
    });
}

export const globalType: AggregationType = {
  cardinality: "one",
  read(json, { path, name }) {
    const [member] = Object.entries(json);
    if (!member) return contentsOf({});
    const reason = `Expected [FIELD_NAME] under a [START_OBJECT], but got a [${tokenOf(member[1])}] in [${name}]`;
    throw parsingErrorAt({ path: [...path, member[0]], what: "value" }, reason);
  },
  build({ naming, parents: [parent], buildChildren }) {
    const create = buildChildren();
    return () => {
      if (parent) {
        throw argumentError(
          `Aggregation [${parent.name}] cannot have a global sub-aggregation [${naming.name}]. Global aggregations can only be defined as top level aggregations`,
        );
      }
      return { kind: "single", ...naming, condition: undefined, children: create() };
    };
  },
};
