/** `foreach` over the values of a field or the elements of a JSON array: repeats assignments for each. */
import { type Sql, sql } from "@offhook/log-store/sql";
import { type Assignment, assign, readAssignments } from "../commands/eval.ts";
import type { SearchContext } from "../context/search-context.ts";
import { materialize } from "../relation/materialize.ts";
import { columnOf, extend, fieldValue, type Relation } from "../relation/relation.ts";
import { bindOnce, listOf, mapList, type Typed, textOf } from "../relation/typed.ts";
import { commandError } from "../spl-error.ts";
import type { Expression } from "../syntax/ast.ts";
import { createArgumentReader } from "../syntax/text-argument-reader.ts";

interface Arguments {
  readonly mode: "multivalue" | "json_array" | "auto_collections";
  readonly name: string;
  readonly template: string;
  readonly marks: { readonly itemstr: string; readonly iterstr: string };
}

/** Most repetitions. */
const MAX_ELEMENTS = 10_000;
/** Elements in one statement: DuckDB limits how deep a statement may nest. */
const ELEMENTS_PER_STATEMENT = 25;

/** Temporary fields of the command. */
const itemField = "foreach item";
const listField = "foreach list";

export async function eachElement(
  { mode, name, template, marks }: Arguments,
  input: Relation,
  context: SearchContext,
): Promise<Relation> {
  const column = columnOf(input, name);
  if (column === undefined) return input;
  let rows = extend(input, new Map([[listField, elementsOf(fieldValue(column), mode)]]));
  const total = await countElements(rows, context);
  for (let element = 0; element < total; element++) {
    const list = fieldOf(rows, listField);
    const item = { ...list, multi: false, sql: sql`${list.sql}[CAST(${element + 1} AS BIGINT)]` };
    const assignments = assignmentsOf(template, marks, element, context);
    rows = extend(rows, new Map([[itemField, item]]));
    rows = await assign(
      rows,
      assignments.map((one) => onlyIfPresent(one, element)),
      context,
    );
    const isLast = element + 1 === total;
    if (!isLast && element % ELEMENTS_PER_STATEMENT === ELEMENTS_PER_STATEMENT - 1)
      rows = await materialize(rows, context, `${ELEMENTS_PER_STATEMENT} elements of foreach`);
  }
  return extend(
    rows,
    new Map([
      [listField, undefined],
      [itemField, undefined],
    ]),
  );
}

function fieldOf(rows: Relation, name: string): Typed {
  const column = columnOf(rows, name);
  if (column === undefined) throw new Error(`there is no field ${name}`);
  return fieldValue(column);
}

/** The elements as a LIST; NULL if there are none. */
function elementsOf(value: Typed, mode: Arguments["mode"]): Typed {
  if (mode === "multivalue") return { ...value, multi: true, sql: listOf(value) };
  const text = value.multi
    ? sql`CASE WHEN len(${value.sql}) = 1 THEN ${textOf(value)}[1] END`
    : textOf(value);
  const array = bindOnce(text, jsonElements);
  if (mode === "json_array") return { type: "text", multi: true, sql: array };
  return {
    type: "text",
    multi: true,
    sql: sql`coalesce(${array}, ${textOf({ ...value, multi: true, sql: listOf(value) })})`,
  };
}

/** Elements of a JSON array: strings without quotes, others as JSON; NULL for other texts. */
function jsonElements(text: Sql): Sql {
  const list = mapList(sql`from_json(${text}, '["JSON"]')`, (one) => sql`(${one} ->> '$')`);
  return sql`CASE WHEN json_valid(${text}) AND json_type(${text}) = 'ARRAY' THEN ${list} END`;
}

async function countElements(rows: Relation, context: SearchContext): Promise<number> {
  const { sql: list } = fieldOf(rows, listField);
  const select = sql`SELECT CAST(max(len(${list})) AS DOUBLE) AS longest FROM (${rows.select}) AS r`;
  const column = { name: "longest", column: "longest", type: "number", multi: false } as const;
  const result = await context.run({ select, columns: [column], order: [], kind: "report" }, 1);
  const total = Number(result.rows[0]?.[0] ?? 0);
  if (total > MAX_ELEMENTS) {
    throw commandError(
      "foreach",
      `There are ${total} elements to go through, and ${MAX_ELEMENTS} are possible.`,
      "run",
    );
  }
  return total;
}

/** The template for one element. Its marks, quoted or not, become a field. */
function assignmentsOf(
  template: string,
  { itemstr, iterstr }: Arguments["marks"],
  element: number,
  context: SearchContext,
): Assignment[] {
  const item = `'${itemField}'`;
  const text = [`'${itemstr}'`, `"${itemstr}"`, itemstr]
    .reduce((filled, mark) => filled.replaceAll(mark, () => item), template)
    .replaceAll(iterstr, () => String(element));
  const { commands } = context.parse(text);
  if (commands.length > 1) {
    throw commandError(
      "foreach",
      "A single eval command can go through elements, with as many assignments as it likes.",
      "run",
    );
  }
  return commands.flatMap(({ name, rawArgs }) => {
    if (name !== "eval") throw commandError("foreach", "Only eval commands can go through elements.", "run");
    const span = { start: 0, end: rawArgs.length };
    return readAssignments(
      createArgumentReader({
        command: "eval",
        text: rawArgs,
        span,
        nested: (inner) => context.parse(rawArgs.slice(inner.start, inner.end)),
      }),
    );
  });
}

/** Restricts an assignment to rows that have this element. */
function onlyIfPresent({ field, expression }: Assignment, element: number): Assignment {
  const place = { start: expression.start, end: expression.end };
  const list: Expression = { ...place, node: "field", name: listField };
  const index: Expression = { ...place, node: "number", value: element, text: String(element) };
  const count: Expression = { ...place, node: "call", name: "mvcount", args: [list] };
  const isThere: Expression = { ...place, node: "binary", operator: ">", left: count, right: index };
  const before: Expression = { ...place, node: "field", name: field };
  return { field, expression: { ...place, node: "call", name: "if", args: [isThere, expression, before] } };
}
