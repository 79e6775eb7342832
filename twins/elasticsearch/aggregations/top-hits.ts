/** `top_hits`: the best documents of a bucket. */
import { javaDouble } from "../json/java-number.ts";
import { parsingErrorAt } from "../json/located-error.ts";
import { tokenOf } from "../json/token.ts";
import { type AggregationType, contentsOf } from "./build.ts";
import { argumentError } from "./errors.ts";
import type { Place } from "./syntax/declared.ts";

/** `index.max_inner_result_window` */
const MAX_HITS = 100;
const DEFAULT_HITS = 3;

const others = new Set(
  "version seq_no_primary_term explain track_scores sort _source fields docvalue_fields stored_fields script_fields highlight".split(
    " ",
  ),
);

export const topHitsType: AggregationType = {
  cardinality: "none",
  read(json, place, context) {
    const counts = new Map<string, number>();
    for (const [member, value] of Object.entries(json)) {
      const path = [...place.path, member];
      const scalar = value !== null && typeof value !== "object";
      if (scalar && (member === "from" || member === "size")) {
        counts.set(member, readCount(member, value, place));
      } else if (!others.has(member)) {
        throw parsingErrorAt({ path, what: "value" }, `Unknown key for a ${tokenOf(value)} in [${member}].`);
      }
    }
    const options = Object.fromEntries(Object.entries(json).filter(([member]) => others.has(member)));
    return contentsOf(Object.fromEntries(counts), { planHits: context.readHits(options, place.path) });
  },
  build({ naming, options, contents, parents }) {
    const from = options.integer("from") ?? 0;
    const size = options.integer("size") ?? DEFAULT_HITS;
    if (from + size > MAX_HITS) {
      throw argumentError(
        `Top hits result window is too large, the top hits aggregator [${naming.name}]'s from + size must be less than or equal to: [${MAX_HITS}] but was [${from + size}]. This limit can be set by changing the [index.max_inner_result_window] index level setting.`,
      );
    }
    const plan = contents.planHits?.(parents.some(({ type }) => type === "global") ? "all" : "found");
    if (!plan) throw new Error("a top_hits was read without its hits");
    return () => ({ kind: "hits", ...naming, from, size, plan });
  },
};

function readCount(member: string, value: unknown, { name }: Place): number {
  const count = Math.trunc(typeof value === "string" ? javaDouble(value) : Number(value));
  if (count >= 0) return count;
  throw argumentError(`[${member}] must be greater than or equal to 0. Found [${count}] in [${name}]`);
}
