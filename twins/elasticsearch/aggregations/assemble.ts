/** Assembles results from the rows of the statement. */
import type { QueryResult, ResultValue } from "@offhook/log-store/store/log-store";
import { getOrAdd } from "@offhook/platform/base/get-or-add";
import type {
  Aggregation,
  Aggregations,
  BucketGroup,
  BucketRow,
  BucketsAggregation,
  HitsAggregation,
} from "./aggregation.ts";
import { MAX_BUCKETS, tooManyBuckets } from "./errors.ts";
import type { Owner, Place, Places } from "./places.ts";
import type { Bucket, BucketsResult, HitsResult, Result } from "./result.ts";

/** Hits waiting to be rendered. */
export interface PendingHits {
  aggregation: HitsAggregation;
  rows: number[];
  total: number;
  result: HitsResult;
}

export interface Assembled {
  results: Map<string, Result>;
  hits: PendingHits[];
}

export function assemble(aggregations: Aggregations, root: Owner, answer: QueryResult): Assembled {
  return new Assembly(answer).root(aggregations, root);
}

/** The bucket whose results are assembled. */
interface Position {
  ordinal: number;
  /** Values of the owner's columns; `undefined` for an empty bucket. */
  values: readonly ResultValue[] | undefined;
  docCount: number;
}

class Assembly {
  readonly #columns: Map<string, number>;
  /** By node, then by the parent's bucket number. */
  readonly #rows = new Map<number, Map<number, ResultValue[][]>>();
  readonly #hits: PendingHits[] = [];
  #buckets = 0;

  constructor({ columns, rows }: QueryResult) {
    this.#columns = new Map(columns.map((name, index) => [name, index]));
    for (const row of rows) {
      const node = this.#number(row, "node");
      const parents = getOrAdd(this.#rows, node, () => new Map());
      getOrAdd(parents, this.#number(row, "p"), () => []).push(row);
    }
    for (const parents of this.#rows.values()) {
      for (const rows of parents.values()) rows.sort((a, b) => this.#number(a, "b") - this.#number(b, "b"));
    }
  }

  root(aggregations: Aggregations, owner: Owner): Assembled {
    return { results: this.#results(aggregations, owner.places, this.#whole(owner)), hits: this.#hits };
  }

  /** The root bucket. */
  #whole(owner: Owner): Position {
    const row = this.#rows.get(owner.node)?.get(0)?.[0];
    return {
      ordinal: 0,
      values: row && this.#values(row, owner),
      docCount: row ? this.#number(row, "n") : 0,
    };
  }

  #results(
    { aggregations, pipelines }: Aggregations,
    places: Places,
    position: Position,
  ): Map<string, Result> {
    const results = new Map<string, Result>();
    for (const aggregation of aggregations) {
      const place = places.get(aggregation);
      if (place) results.set(aggregation.name, this.#result(aggregation, place, places, position));
    }
    for (const { name, sibling } of pipelines) {
      if (sibling) results.set(name, sibling(results));
    }
    return results;
  }

  #result(aggregation: Aggregation, place: Place, places: Places, position: Position): Result {
    if (aggregation.kind === "metric" && place.kind === "metric") {
      return aggregation.result(position.values?.slice(place.first, place.first + place.count));
    }
    if (aggregation.kind === "buckets" && place.kind === "buckets") {
      return this.#bucketsResult(aggregation, place.owner, position.ordinal);
    }
    if (aggregation.kind === "buckets" && place.kind === "conditions") {
      return this.#conditionsResult(aggregation, place.buckets, position);
    }
    if (aggregation.kind === "hits" && place.kind === "hits") {
      return this.#hitsResult(aggregation, place.node, position);
    }
    const described = { kind: "single", typeName: aggregation.type, meta: aggregation.meta } as const;
    if (aggregation.kind === "single" && place.kind === "single") {
      const docCount = Number(position.values?.[place.first] ?? 0);
      const inside = { ...position, docCount };
      return { ...described, docCount, results: this.#results(aggregation.children, places, inside) };
    }
    if (aggregation.kind === "single" && place.kind === "global") {
      const whole = this.#whole(place.owner);
      const results = this.#results(aggregation.children, place.owner.places, whole);
      return { ...described, docCount: whole.docCount, results };
    }
    throw new Error(`an aggregation of kind ${aggregation.kind} cannot be answered by a ${place.kind}`);
  }

  #bucketsResult(aggregation: BucketsAggregation, owner: Owner, ordinal: number): BucketsResult {
    const rows = this.#rows.get(owner.node)?.get(ordinal) ?? [];
    return this.#buildBuckets(aggregation, this.#group(rows, aggregation, owner), () => owner.places);
  }

  /** Buckets whose counts and results are columns of the enclosing bucket. */
  #conditionsResult(
    aggregation: BucketsAggregation,
    buckets: readonly { first: number; places: Places }[],
    { values = [] }: Position,
  ): BucketsResult {
    const rows = buckets.flatMap(({ first }, index): BucketRow[] => {
      const docCount = Number(values[first] ?? 0);
      return docCount === 0 ? [] : [{ keys: [index], docCount, ordinal: -1, values }];
    });
    const group = { rows, total: 0, groups: rows.length };
    const nowhere: Places = new Map();
    return this.#buildBuckets(
      aggregation,
      group,
      (row) => buckets[Number(row?.keys[0] ?? 0)]?.places ?? nowhere,
    );
  }

  #buildBuckets(
    aggregation: BucketsAggregation,
    group: BucketGroup,
    placesOf: (row: BucketRow | undefined) => Places,
  ): BucketsResult {
    const result = aggregation.result(group, (row, bucket): Bucket => {
      if (++this.#buckets > MAX_BUCKETS) throw tooManyBuckets();
      const docCount = row?.docCount ?? 0;
      const position: Position = { ordinal: row?.ordinal ?? -1, values: row?.values, docCount };
      return { ...bucket, docCount, results: this.#results(aggregation.children, placesOf(row), position) };
    });
    for (const { parent } of aggregation.children.pipelines) parent?.(result);
    return result;
  }

  #group(rows: readonly ResultValue[][], { keys }: BucketsAggregation, owner: Owner): BucketGroup {
    if (rows.length > MAX_BUCKETS) throw tooManyBuckets();
    const [first] = rows;
    return {
      rows: rows.map(
        (row): BucketRow => ({
          keys: keys.map((_, index) => this.#value(row, `k${owner.node}_${index}`)),
          docCount: this.#number(row, "n"),
          ordinal: this.#number(row, "b"),
          values: this.#values(row, owner),
        }),
      ),
      total: first && this.#columns.has("total") ? this.#number(first, "total") : 0,
      groups: first && this.#columns.has("groups") ? this.#number(first, "groups") : rows.length,
    };
  }

  #hitsResult(aggregation: HitsAggregation, node: number, { ordinal, docCount }: Position): HitsResult {
    const rows = (this.#rows.get(node)?.get(ordinal) ?? []).map((row) => this.#number(row, "hit"));
    const result: HitsResult = {
      kind: "hits",
      typeName: "top_hits",
      meta: aggregation.meta,
      hits: undefined,
    };
    this.#hits.push({ aggregation, rows, total: docCount, result });
    return result;
  }

  #values(row: readonly ResultValue[], owner: Owner): ResultValue[] {
    return owner.columns.map((name) => this.#value(row, name));
  }

  #value(row: readonly ResultValue[], name: string): ResultValue {
    return row[this.#columns.get(name) ?? -1] ?? null;
  }

  #number(row: readonly ResultValue[], name: string): number {
    return Number(this.#value(row, name));
  }
}
