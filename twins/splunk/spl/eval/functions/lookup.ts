/** `lookup`: outputs of a lookup table for given inputs. */
import { identifier, joined, type Sql, sql } from "@offhook/log-store/sql";
import { fieldValue, project, type Relation } from "../../relation/relation.ts";
import { cachedRelationOf } from "../../relation/rows.ts";
import { textOf } from "../../relation/typed.ts";
import type { Expression } from "../../syntax/ast.ts";
import { singleText } from "../arithmetic.ts";
import { Scope } from "../scope.ts";
import { nothing, text } from "../value.ts";
import type { FormFunction, Use } from "./declaration.ts";

export const lookup: FormFunction = {
  kind: "form",
  name: "lookup",
  family: "comparison and conditional",
  syntax: "lookup(table, json_object(field1, value1, …), json_array(output1, …))",
  summary: "The outputs of the first matching row of a lookup table, as a JSON object.",
  minArgs: 3,
  maxArgs: 3,
  async compile([table, inputs, outputs], use) {
    if (use.scope.narrowed || table?.node !== "string") return use.fail();
    const keys = pairsOf(inputs, use);
    const names = textsOf(outputs, use);
    const rows = await use.scope.context.knowledge.lookup(table.value);
    if (rows === undefined) {
      return use.scope.fail(`Could not construct lookup '${table.value}'. See search.log for more details.`);
    }
    const known = (name: string) => rows.fields.some((field) => field.name === name);
    if (!keys.every(([name]) => known(name))) return nothing;
    const fields = [...keys.map(([name]) => name), ...names.filter(known)];
    const entries = selectFields(cachedRelationOf(rows, `lookup ${table.value}`), fields);
    const conditions = await Promise.all(
      keys.map(async ([, value], index) => {
        const scope = new Scope(use.scope.input, use.scope.context, use.scope.command);
        const key = singleText(await use.compile(value, scope));
        return sql`${columnAt(index)} = ${scope.withSubqueries(key)}`;
      }),
    );
    const members = names.filter(known).map((name, index) => member(name, columnAt(keys.length + index)));
    const object = sql`to_json(struct_pack(${joined(members, ", ")}))`;
    const first = sql`SELECT CAST(${members.length === 0 ? sql`'{}'` : object} AS VARCHAR) FROM (${entries}) AS l WHERE ${joined(conditions, " AND ")} ORDER BY l."#order0" LIMIT 1`;
    return { ...text(use.scope.subquery(first)), loose: true };
  },
};

function columnAt(index: number): Sql {
  return sql`l.${identifier(`#l${index}`)}`;
}

function member(name: string, value: Sql): Sql {
  return sql`${identifier(name)} := ${value}`;
}

/** The fields under column names that no field of the row has. */
function selectFields(entries: Relation, fields: readonly string[]): Sql {
  const columns = fields.map((name, index) => {
    const column = entries.columns.find((one) => one.name === name);
    const value =
      column === undefined ? nothing : { ...text(textOf(fieldValue(column))), multi: column.multi };
    return { name: `#l${index}`, value };
  });
  return project(entries, columns).select;
}

function pairsOf(expression: Expression | undefined, { fail }: Use): [string, Expression][] {
  if (expression?.node !== "call" || expression.name !== "json_object" || expression.args.length % 2 !== 0)
    return fail();
  const { args } = expression;
  return args.flatMap((key, index): [string, Expression][] => {
    const value = args[index + 1];
    if (index % 2 !== 0 || value === undefined) return [];
    return key.node === "string" ? [[key.value, value]] : fail();
  });
}

function textsOf(expression: Expression | undefined, { fail }: Use): string[] {
  if (expression?.node !== "call" || expression.name !== "json_array") return fail();
  return expression.args.map((arg) => (arg.node === "string" ? arg.value : fail()));
}
