/** Expressions over rows that are given. */
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { Knowledge } from "../../spl/context/knowledge.ts";
import { defaultLimits, type SearchContext } from "../../spl/context/search-context.ts";
import { createSearchContext } from "../../spl/create-context.ts";
import { compileCondition, compileExpression } from "../../spl/eval/compile-expression.ts";
import { filter, project, type Relation } from "../../spl/relation/relation.ts";
import { type RowField, relationOf } from "../../spl/relation/rows.ts";
import type { Expression } from "../../spl/syntax/ast.ts";
import { knowledgeOf } from "./spl.ts";

const nowMs = Date.UTC(2026, 0, 15, 12, 30, 15);

/** Numbers are numbers, arrays multi-values, and a missing member is a missing field. */
export type ExpressionRows = readonly Readonly<Record<string, ResultValue>>[];

export interface ExpressionBench {
  context: SearchContext;
  /** The same with other rows. */
  over(rows: ExpressionRows): Pick<ExpressionBench, "values" | "kept">;
  /** Values of the expression, one a row, as they come out of the database. */
  values(expression: Expression): Promise<ResultValue[]>;
  /** Numbers of the rows that are kept, from 0. */
  kept(condition: Expression): Promise<number[]>;
  close(): Promise<void>;
}

export async function expressionBench(
  rows: ExpressionRows,
  { timeZone = "UTC", knowledge = {} }: { timeZone?: string; knowledge?: Partial<Knowledge> } = {},
): Promise<ExpressionBench> {
  const store = await openLogStore();
  const context = createSearchContext({
    store,
    knowledge: knowledgeOf({ indexes: async () => [], defaultIndexes: () => [], ...knowledge }),
    nowMs,
    timeZone,
    range: { earliestMs: undefined, latestMs: undefined },
    limits: defaultLimits,
    sid: "1",
    user: "admin",
    app: "search",
    signal: new AbortController().signal,
    deadlineMs: 30_000,
    parse: () => {
      throw new Error("nothing is parsed here");
    },
    warn: () => {},
  });
  const over = (given: ExpressionRows) => {
    const input = relation(given);
    return {
      async values(expression: Expression) {
        const value = await compileExpression(expression, input, context);
        const result = await context.run(project(input, [{ name: "value", value }]), given.length);
        return result.rows.map(([one = null]) => one);
      },
      async kept(condition: Expression) {
        const predicate = await compileCondition(condition, input, context);
        const result = await context.run(filter(input, predicate), given.length);
        return result.rows.map((row) => Number(row.at(-1)));
      },
    };
  };
  return { context, over, ...over(rows), close: () => store.close() };
}

/** With the number of each row as its last field. */
function relation(rows: ExpressionRows): Relation {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const fields = names.map((name): RowField => {
    const values = rows.flatMap((row) => row[name] ?? []);
    return {
      name,
      type: values.every((value) => typeof value === "number") && values.length > 0 ? "number" : "text",
      multi: rows.some((row) => Array.isArray(row[name])),
    };
  });
  return relationOf({
    fields: [...fields, { name: "#row", type: "number", multi: false }],
    rows: rows.map((row, index) => [
      ...fields.map(({ name, multi }) => {
        const value = row[name] ?? null;
        return multi && value !== null && !Array.isArray(value) ? [value] : value;
      }),
      index,
    ]),
  });
}
