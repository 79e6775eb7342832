/** `sigfig`: rounds a result to the precision of its operands. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, textOf } from "../../relation/typed.ts";
import type { Expression } from "../../syntax/ast.ts";
import { leadingPlace } from "../precision.ts";
import { number } from "../value.ts";
import type { FormFunction, Use } from "./declaration.ts";
import { numberArgument } from "./tools.ts";

export const sigfig: FormFunction = {
  kind: "form",
  name: "sigfig",
  family: "mathematical",
  syntax: "sigfig(number)",
  summary:
    "A product or quotient rounded to the significant digits of its least precise operand; a sum or difference to its decimal places.",
  minArgs: 1,
  maxArgs: 1,
  async compile([expression], use) {
    if (expression === undefined) return use.fail();
    const value = numberArgument(await use.compile(expression, use.scope), use);
    if (expression.node !== "binary") return number(value);
    const operands = await Promise.all(
      [expression.left, expression.right].map((side) => operandText(side, use)),
    );
    if (expression.operator === "*" || expression.operator === "/") {
      return number(roundSignificant(value, least(operands.map(significantDigits))));
    }
    if (expression.operator === "+" || expression.operator === "-") {
      return number(sql`round(${value}, CAST(${least(operands.map(places))} AS INTEGER))`);
    }
    return number(value);
  },
};

/** An operand as written; NULL for a computed one, which counts as exact. */
async function operandText(expression: Expression, { scope, compile }: Use): Promise<Sql> {
  if (expression.node === "number") return sql`CAST(${expression.text} AS VARCHAR)`;
  if (expression.node === "field") return textOf(await compile(expression, scope));
  return raw("CAST(NULL AS VARCHAR)");
}

/** 3 for 1.00, 4 for 1200, 1 for 0.05. */
function significantDigits(text: Sql): Sql {
  return sql`len(ltrim(regexp_replace(regexp_replace(${text}, '[eE].*', ''), '[^0-9]', '', 'g'), '0'))`;
}

function places(text: Sql): Sql {
  return sql`len(split_part(${text}, '.', 2))`;
}

/** The smaller count; an unknown one is ignored. */
function least([first, second]: readonly Sql[]): Sql {
  return sql`coalesce(least(${first ?? raw("NULL")}, ${second ?? raw("NULL")}), 17)`;
}

function roundSignificant(value: Sql, digits: Sql): Sql {
  return bindOnce(
    value,
    (x) => sql`coalesce(round(${x}, CAST(greatest(${digits}, 1) - 1 - ${leadingPlace(x)} AS INTEGER)), ${x})`,
  );
}
