/** `sigfig`: a number in no more digits than those it was computed from. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, textOf } from "../../relation/typed.ts";
import type { Expression } from "../../syntax/ast.ts";
import { compile } from "../compile.ts";
import { leadingPlace } from "../precision.ts";
import type { Scope } from "../scope.ts";
import { number } from "../value.ts";
import type { FormFunction } from "./declaration.ts";
import { numeric } from "./tools.ts";

export const sigfig: FormFunction = {
  kind: "form",
  name: "sigfig",
  family: "mathematical",
  syntax: "sigfig(number)",
  summary:
    "The result of a product or quotient in as many significant digits as its least exact operand has; of a sum or difference in as many places.",
  least: 1,
  most: 1,
  async compile([expression], use) {
    if (expression === undefined) return use.fail();
    const value = numeric(await compile(expression, use.scope), use);
    if (expression.node !== "binary") return number(value);
    const operands = await Promise.all(
      [expression.left, expression.right].map((side) => written(side, use.scope)),
    );
    if (expression.operator === "*" || expression.operator === "/") {
      return number(significant(value, leastOf(operands.map(significantDigits))));
    }
    if (expression.operator === "+" || expression.operator === "-") {
      return number(sql`round(${value}, CAST(${leastOf(operands.map(places))} AS INTEGER))`);
    }
    return number(value);
  },
};

/** An operand as text; NULL for what itself is computed, which is as exact as it is. */
async function written(expression: Expression, scope: Scope): Promise<Sql> {
  if (expression.node === "number") return sql`CAST(${expression.text} AS VARCHAR)`;
  if (expression.node === "field") return textOf(await compile(expression, scope));
  return raw("CAST(NULL AS VARCHAR)");
}

/** 1.00 has three, 1200 four, 0.05 one. */
function significantDigits(text: Sql): Sql {
  return sql`len(ltrim(regexp_replace(regexp_replace(${text}, '[eE].*', ''), '[^0-9]', '', 'g'), '0'))`;
}

function places(text: Sql): Sql {
  return sql`len(split_part(${text}, '.', 2))`;
}

/** Operands whose digits nobody knows do not count. */
function leastOf([first, second]: readonly Sql[]): Sql {
  return sql`coalesce(least(${first ?? raw("NULL")}, ${second ?? raw("NULL")}), 17)`;
}

function significant(value: Sql, digits: Sql): Sql {
  return bindOnce(
    value,
    (x) => sql`coalesce(round(${x}, CAST(greatest(${digits}, 1) - 1 - ${leadingPlace(x)} AS INTEGER)), ${x})`,
  );
}
