/** `dis_max`: the score of the best clause, plus a share of the others. */
import { fieldValue } from "@offhook/log-store/fields";
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Ask, Explanation } from "../compiled-query.ts";
import { boostOf, idfSql, lengthFactorSql, scoreSql as wordScoreSql } from "../score/bm25.ts";
import { explanation } from "../score/explain.ts";
import type { DisMaxQuery } from "../syntax/query.ts";
import { equals } from "./column.ts";
import type { Compiler } from "./compiler.ts";
import { shapeOf, type WholeValue } from "./field-search.ts";
import { anyOf, FALSE, inRows, lazy, type Matcher, nothing, scoredRows, scoreSql } from "./matcher.ts";
import { searchFields } from "./search-fields.ts";

export function compileDisMax(compiler: Compiler, query: DisMaxQuery, boost: number): Matcher {
  compiler.count(1);
  return disMax(
    query.queries.map((clause) => compiler.compile(clause, boost)),
    query.tieBreaker,
  );
}

/** Matches documents of any of the clauses. @param tieBreaker the share of every score that is not the best */
export function disMax(clauses: readonly Matcher[], tieBreaker: number): Matcher {
  const parts = partsOf(clauses);
  const [first] = parts;
  if (!first) return nothing;
  const [only] = first.clauses;
  if (only && parts.length === 1 && first.clauses.length === 1) return only;
  const values = new Set(parts.map(({ uniform }) => uniform));
  const [value] = values;
  const explain = (ask: Ask, row: bigint) => explainBest(parts, tieBreaker, ask, row);
  const predicate = lazy(() => anyOf(parts.map((part) => part.predicate)));
  if (tieBreaker === 0 && values.size === 1 && value !== undefined) {
    return {
      get predicate() {
        return predicate();
      },
      rows: parts.length === 1 ? first.rows : undefined,
      score: { kind: "uniform", value },
      explain,
    };
  }
  const others = tieBreaker === 0 ? raw("") : sql` + ${Math.fround(tieBreaker)} * (sum(score) - max(score))`;
  return {
    get predicate() {
      return predicate();
    },
    rows: parts.length === 1 ? first.rows : undefined,
    score: {
      kind: "ranked",
      get rows() {
        const scores = parts.map(
          (part) => sql`SELECT _row, CAST(score AS DOUBLE) AS score FROM (${part.scores})`,
        );
        return sql`(SELECT _row, CAST(max(score)${others} AS FLOAT) AS score
          FROM (${joined(scores, " UNION ALL ")}) GROUP BY _row)`;
      },
    },
    explain,
  };
}

/** Clauses that are scored together. */
interface Part {
  readonly clauses: readonly Matcher[];
  readonly predicate: Sql;
  readonly rows?: Sql;
  /** `SELECT _row, score`, a row for each matching clause of a document; when `numbered`, also `field`, the index of the clause. */
  readonly scores: Sql;
  readonly numbered: boolean;
  /** The one score of all clauses and documents. */
  readonly uniform: number | undefined;
}

/** Groups the same search of many fields into one part, and clauses with constant scores into another. */
function partsOf(clauses: readonly Matcher[]): Part[] {
  const searches = new Map<string, Map<string, Matcher>>();
  const wholes = new Map<string, Matcher>();
  const rest: Matcher[] = [];
  for (const clause of clauses) {
    const { inField, whole } = clause;
    if (inField) {
      const shape = shapeOf(inField);
      const same = searches.get(shape) ?? new Map<string, Matcher>();
      searches.set(shape, same);
      if (same.has(inField.target.field.name)) rest.push(clause);
      else same.set(inField.target.field.name, clause);
    } else if (whole && !wholes.has(whole.field.name)) wholes.set(whole.field.name, clause);
    else rest.push(clause);
  }
  const parts: Part[] = [];
  for (const same of searches.values()) {
    if (same.size > 1) parts.push(fieldsPart([...same.values()]));
    else rest.push(...same.values());
  }
  if (wholes.size > 1) parts.push(valuesPart([...wholes.values()]));
  else rest.push(...wholes.values());
  const kept = rest.filter(({ predicate }) => predicate !== FALSE);
  const uniform = kept.filter(({ score }) => score.kind === "uniform" && typeof score.value === "number");
  const others = kept.filter((clause) => uniform.length < 2 || !uniform.includes(clause));
  if (uniform.length > 1) parts.push(uniformPart(uniform));
  return [...parts, ...others.map(singlePart)];
}

function singlePart(clause: Matcher): Part {
  const { predicate, score } = clause;
  return {
    clauses: [clause],
    predicate,
    get scores() {
      return scoredRows(clause);
    },
    numbered: false,
    uniform: score.kind === "uniform" && typeof score.value === "number" ? score.value : undefined,
  };
}

function fieldsPart(clauses: readonly Matcher[]): Part {
  const found = searchFields(clauses.flatMap(({ inField }) => inField ?? []));
  return {
    clauses,
    get predicate() {
      return inRows(found.rows);
    },
    get rows() {
      return found.rows;
    },
    get scores() {
      return found.scores;
    },
    numbered: true,
    uniform: found.uniform,
  };
}

function valuesPart(clauses: readonly Matcher[]): Part {
  const values = clauses.flatMap(({ whole }) => whole ?? []);
  return {
    clauses,
    predicate: anyOf(values.map(({ field, value }) => equals(field, sql`${value}`))),
    get scores() {
      return scoresOfValues(values);
    },
    numbered: true,
    uniform: undefined,
  };
}

function uniformPart(clauses: readonly Matcher[]): Part {
  const scored = clauses.map(({ predicate, score }) => ({
    predicate,
    value: score.kind === "uniform" && typeof score.value === "number" ? score.value : 0,
  }));
  const values = new Set(scored.map(({ value }) => value));
  return {
    clauses,
    predicate: anyOf(scored.map(({ predicate }) => predicate)),
    get scores() {
      const each = scored.map(({ predicate, value }) => ({ predicate, value: scoreSql(value) }));
      return rowPerPredicate(each, "score");
    },
    numbered: false,
    uniform: values.size === 1 ? scored[0]?.value : undefined,
  };
}

async function explainBest(
  parts: readonly Part[],
  tieBreaker: number,
  ask: Ask,
  row: bigint,
): Promise<Explanation> {
  const details: Explanation[] = [];
  for (const part of parts) {
    for (const clause of await matchingClauses(part, ask, row)) details.push(await clause.explain(ask, row));
  }
  const values = details.map(({ value }) => value);
  const highest = Math.max(...values);
  const others = values.reduce((sum, value) => sum + value, 0) - highest;
  return explanation(
    highest + Math.fround(tieBreaker) * others,
    tieBreaker === 0 ? "max of:" : `max plus ${tieBreaker} times others of:`,
    details,
  );
}

/** The clauses that match the document. */
async function matchingClauses(
  { clauses, numbered, scores }: Part,
  ask: Ask,
  row: bigint,
): Promise<Matcher[]> {
  if (numbered) {
    const found = await ask(sql`SELECT field FROM (${scores}) WHERE _row = ${row} ORDER BY field`);
    return found.flatMap(([field]) => clauses[Number(field)] ?? []);
  }
  const found: Matcher[] = [];
  for (const clause of clauses) {
    const matched = await ask(
      sql`SELECT 1 FROM documents AS d WHERE d._row = ${row} AND ${clause.predicate}`,
    );
    if (matched.length > 0) found.push(clause);
  }
  return found;
}

/** `SELECT _row, <name>`: for each document a row for each predicate that is true, with that predicate's value. */
function rowPerPredicate(
  predicates: readonly { readonly predicate: Sql; readonly value: Sql }[],
  name: string,
): Sql {
  const values = predicates.map(({ predicate, value }) => sql`CASE WHEN ${predicate} THEN ${value} END`);
  const all = sql`list_filter([${joined(values, ", ")}], lambda one: one IS NOT NULL)`;
  return sql`SELECT d._row, unnest(${all}) AS ${raw(name)} FROM documents AS d
    WHERE ${anyOf(predicates.map(({ predicate }) => predicate))}`;
}

/** `SELECT field, _row, score`: a row for each field of a document that has its value; `field` is the index in the list. */
function scoresOfValues(values: readonly WholeValue[]): Sql {
  const found = rowPerPredicate(
    values.map(({ field, value }, place) => ({
      predicate: equals(field, sql`${value}`),
      value: raw(String(place)),
    })),
    "field",
  );
  const columns = values.map(({ field }) => fieldValue(field));
  const averages = values.map(({ field }, place) =>
    field.multi
      ? sql`CAST(sum(len(list_distinct(${columns[place] ?? raw("")}))) / CAST(count(${columns[place] ?? raw("")}) AS DOUBLE) AS FLOAT)`
      : raw("1::FLOAT"),
  );
  const counts = columns.map((column) => sql`count(${column})`);
  const weight = sql`weight_boost * ${idfSql(raw("documents"), raw("matching"))}`;
  const score = wordScoreSql(raw("weight"), raw("1"), lengthFactorSql(raw("1"), raw("average_length")));
  const boosts = values.map(({ boost }) => sql`CAST(${boostOf(boost)} AS FLOAT)`);
  return sql`WITH found AS MATERIALIZED (${found}),
    extents AS (SELECT unnest(range(${raw(String(values.length))})) AS field, unnest(documents) AS documents,
        unnest(averages) AS average_length, unnest([${joined(boosts, ", ")}]) AS weight_boost
      FROM (SELECT [${joined(counts, ", ")}] AS documents, [${joined(averages, ", ")}] AS averages FROM documents AS d))
    SELECT field, _row, score FROM found
    JOIN (SELECT field, ${score} AS score
          FROM (SELECT field, average_length, ${weight} AS weight
                FROM (SELECT field, count(*) AS matching FROM found GROUP BY field) JOIN extents USING (field))) USING (field)`;
}
