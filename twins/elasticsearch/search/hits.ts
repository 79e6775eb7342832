/** Reads the hits of a page and writes them as the answer shows them. */

import { type Field, fieldValue } from "@offhook/log-store/fields";
import { joined, list, raw, type Sql, type SqlValue, sql } from "@offhook/log-store/sql";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { getOrAdd } from "@offhook/platform/base/get-or-add";
import { emptyRecord } from "@offhook/platform/base/lookup-table";
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { namesOf } from "../indices/field-types.ts";
import { Float } from "../json/numbers.ts";
import type { Explanation } from "../query/compiled-query.ts";
import { showSql } from "../query/show-sql.ts";
import { NODE_ID } from "../vendor/node.ts";
import type { SearchContext } from "./context.ts";
import { docvalueColumns, type FieldColumn, fieldColumns } from "./fields.ts";
import { fieldsToHighlight, highlightValues, marksFor } from "./highlight.ts";
import { IgnoredFields, type IgnoredValues } from "./ignored-fields.ts";
import type { SearchPlan } from "./plan.ts";
import type { SearchRequest } from "./request.ts";
import { filterSource } from "./source-filter.ts";

/** A row of the page, by the search's first statement. */
export interface PageHit {
  row: bigint;
  score: number | undefined;
  /** Value of the collapse field. */
  group: ResultValue;
  /** Sort values as the answer shows them. */
  sort: unknown[];
  keyValues: SqlValue[];
}

/** Number of columns before the requested ones. */
const FIXED = 6;

/** Skips columns that the answer does not show. */
function fixedColumns({ version, seqNoPrimaryTerm }: SearchRequest): Sql {
  const versions = `${version ? "d._version" : "NULL"}, ${seqNoPrimaryTerm ? "d._seq_no" : "NULL"}`;
  return raw(`d._row, d._id, d._index, ${versions}, d._source`);
}

export async function hitsOfPage(
  page: readonly PageHit[],
  request: SearchRequest,
  plan: SearchPlan,
  context: SearchContext,
): Promise<object[]> {
  // `fields` come last, because they win over `docvalue_fields` of the same name.
  const columns = [
    ...docvalueColumns(request.docvalueFields, context.query, plan.index),
    ...fieldColumns(request.fields, context.query, plan.index),
  ];
  const texts = highlightColumns(request, context);
  const named = [...plan.query.named];
  const byRow = await readRows(
    page.map(({ row }) => row),
    [
      fixedColumns(request),
      ...columns.map(({ value }) => value),
      ...texts.map(({ value }) => value),
      ...named.map(([, predicate]) => predicate),
    ],
    context,
  );
  const ignoredIn = ignoredReader(context);
  const explained = request.explain ? await explain(page, plan, context) : undefined;
  return page.flatMap((hit, number) => {
    const row = byRow.get(Number(hit.row));
    if (!row) return [];
    const values = row.slice(FIXED);
    const fields = showFields(columns, values);
    const highlighted = highlight(texts, values.slice(columns.length), request, plan);
    const matched = named.flatMap(([name], index) =>
      values[columns.length + texts.length + index] === true ? [name] : [],
    );
    if (plan.collapse && hit.group !== null) fields[plan.collapse.field] = [plan.collapse.show(hit.group)];
    const [, id, index, version, seqNo, source] = row;
    const ignored = ignoredIn(String(index), String(source));
    const ignoredValues = selectRequested(ignored, request);
    return [
      {
        ...(explained ? { _shard: `[${String(index)}][0]`, _node: NODE_ID } : {}),
        _index: index,
        ...(request.storesNothing ? {} : { _id: id }),
        ...(request.version ? { _version: version } : {}),
        ...(request.seqNoPrimaryTerm ? { _seq_no: seqNo, _primary_term: 1 } : {}),
        _score: hit.score === undefined || !showsScore(request, plan) ? null : new Float(hit.score),
        ...(ignored.size > 0 ? { _ignored: [...ignored.keys()].sort() } : {}),
        _source: filterSource(String(source), request.source),
        ...(Object.keys(fields).length > 0 ? { fields } : {}),
        ...(ignoredValues.length > 0 ? { ignored_field_values: Object.fromEntries(ignoredValues) } : {}),
        ...(request.highlight && Object.keys(highlighted).length > 0 ? { highlight: highlighted } : {}),
        ...(plan.showsSort ? { sort: hit.sort } : {}),
        ...(matched.length > 0 ? { matched_queries: matched } : {}),
        ...(explained ? { _explanation: explained[number] } : {}),
      },
    ];
  });
}

/** Finds values ignored in a document, by its index; `specification` ignores none. */
function ignoredReader({ store, query }: SearchContext): (index: string, source: string) => IgnoredValues {
  if (query.fidelity === "specification") return () => new Map();
  const readers = new Map<string, IgnoredFields>();
  return (index, source) =>
    getOrAdd(readers, index, () => new IgnoredFields(store.fields.of(index))).of(source);
}

/** The ignored fields that `fields` requests. */
function selectRequested(ignored: IgnoredValues, { fields }: SearchRequest) {
  return [...ignored].filter(([name]) => fields.some(({ field }) => matchesPattern(name, field)));
}

function showsScore(request: SearchRequest, { scores }: SearchPlan): boolean {
  return (
    scores &&
    (request.trackScores || request.sort.length === 0 || request.sort.some(({ kind }) => kind === "score"))
  );
}

/**
 * Reads rows by number. A row's position equals its number until earlier rows are removed. DuckDB reads positions
 * without a scan, so those come first; rows not found there take a scan.
 */
async function readRows(
  rows: readonly bigint[],
  columns: readonly Sql[],
  context: SearchContext,
): Promise<Map<number, ResultValue[]>> {
  const found = new Map<number, ResultValue[]>();
  for (const where of [positionPredicate, rowPredicate]) {
    const missing = rows.filter((row) => !found.has(Number(row)));
    if (missing.length === 0) break;
    const statement = hitStatement(columns, where(missing));
    context.notes.addSql([showSql(statement)]);
    const read = await context.store.query(statement, { signal: context.signal });
    for (const row of read.rows) found.set(Number(row[0]), row);
  }
  return found;
}

/** May yield rows of other numbers, which `readRows` files under their own. */
function positionPredicate(rows: readonly bigint[]): Sql {
  const places = joined(
    rows.map((row) => sql`${row}`),
    ", ",
  );
  return sql`d.rowid IN (SELECT unnest([${places}]))`;
}

function rowPredicate(rows: readonly bigint[]): Sql {
  return sql`d._row IN ${list(rows)}`;
}

function hitStatement(columns: readonly Sql[], where: Sql): Sql {
  return sql`SELECT ${joined(columns, ", ")} FROM documents AS d WHERE ${where}`;
}

function showFields(
  columns: readonly FieldColumn[],
  values: readonly ResultValue[],
): Record<string, unknown[]> {
  const fields = emptyRecord<unknown[]>();
  columns.forEach(({ name, show }, index) => {
    const shown = show(values[index] ?? null);
    if (shown.length > 0) fields[name] = shown;
  });
  return fields;
}

interface TextColumn {
  name: string;
  value: Sql;
  /** `whole`: matched as one token. */
  unit: "words" | "whole";
}

function highlightColumns({ highlight: asked }: SearchRequest, { query }: SearchContext): TextColumn[] {
  if (!asked) return [];
  const texts = query.fields.all().filter(({ type }) => type === "text" || type === "keyword");
  const columns = new Map(
    texts.flatMap((field) => namesOf(field).map((name) => [name, columnOf(field, name)] as const)),
  );
  return [...fieldsToHighlight(asked, [...columns.keys()]).keys()].flatMap((name) => columns.get(name) ?? []);
}

function columnOf(field: Field, name: string): TextColumn {
  const unit = field.type === "keyword" || name !== field.name ? "whole" : "words";
  return { name, value: fieldValue(field), unit };
}

function highlight(
  texts: readonly TextColumn[],
  values: readonly ResultValue[],
  { highlight: asked }: SearchRequest,
  { query }: SearchPlan,
): Record<string, string[]> {
  const found = emptyRecord<string[]>();
  if (!asked) return found;
  const options = fieldsToHighlight(
    asked,
    texts.map(({ name }) => name),
  );
  texts.forEach(({ name, unit }, index) => {
    const chosen = options.get(name);
    const value = values[index] ?? null;
    if (!chosen || value === null) return;
    const items = (Array.isArray(value) ? value : [value]).map(String);
    const marks = marksFor(name, query.marks, chosen);
    const fragments = highlightValues(items, marks, chosen, unit);
    if (fragments.length > 0) found[name] = fragments;
  });
  return found;
}

async function explain(
  page: readonly PageHit[],
  { query }: SearchPlan,
  { store, signal }: SearchContext,
): Promise<unknown[]> {
  const ask = async (statement: Sql) => (await store.query(statement, { signal })).rows;
  const found: unknown[] = [];
  for (const { row } of page) {
    const explanation = await query.explain(ask, row);
    found.push(explanation && showExplanation(explanation));
  }
  return found;
}

export function showExplanation({ value, description, details }: Explanation): object {
  return { value: new Float(value), description, details: details.map(showExplanation) };
}
