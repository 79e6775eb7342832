/** `sparkline`: an aggregate for each time slot of the search, as a list. */
import { raw, sql } from "@offhook/log-store/sql";
import { lambdaParameter, mapList, type Typed, textOf } from "../../relation/typed.ts";
import { SplError } from "../../spl-error.ts";
import type { AggregateCall } from "../../syntax/ast.ts";
import type { Site } from "../site.ts";
import { listValues, type Values } from "../values.ts";
import { type FoundFunction, number, type StatsFunction, texts } from "./declaration.ts";

/** First element of the list: tells clients to draw it. */
const MARK = "##__SPARKLINE__##";

export const sparkline: StatsFunction = {
  name: "sparkline",
  syntax: "sparkline, sparkline(aggregate, span)",
  summary: `An aggregate for each time slot: a list that begins with ${MARK}.`,
  numeric: false,
  compile: (_values, { site }) => parts(number(raw("1")), site, undefined, (values) => number(values.count)),
};

/** `sparkline(sum(x), 1h)`: slots without values are 0. */
export function sparklineOf(
  { found, value }: { found: FoundFunction; value: Typed },
  { argument }: AggregateCall,
  site: Site,
): Typed {
  const span = argument.kind === "sparkline" ? argument.span : undefined;
  const { declared, parameter } = found;
  return parts(value, site, span, (values) => declared.compile(values, { site, parameter }));
}

function parts(
  value: Typed,
  site: Site,
  span: string | undefined,
  compile: (values: Values) => Typed,
): Typed {
  if (site.sparkline === undefined) throw new SplError("A sparkline cannot stand here.", "run");
  const known: Typed = value.type === "boolean" ? number(sql`CASE WHEN ${value.sql} THEN 1 END`) : value;
  const type = known.type === "number" ? "number" : "text";
  const pair = sql`{'part': ${site.sparkline.part(span)}, 'value': ${known.sql}}`;
  const pairs = site.call(sql`list(${pair})`, sql`${known.sql} IS NOT NULL`);
  const part = lambdaParameter();
  const candidate = lambdaParameter();
  const inPart = sql`list_filter(${pairs}, lambda ${candidate}: ${candidate}.part = ${part})`;
  const picked = mapList(inPart, (one) => sql`${one}.value`);
  const result = compile(withoutRows(listValues(type, known.multi ? sql`flatten(${picked})` : picked)));
  const count = raw(String(site.sparkline.count(span)));
  const each = sql`list_transform(range(${count}), lambda ${part}: coalesce(${textOf(result)}, '0'))`;
  return texts(sql`list_prepend(${MARK}, ${each})`);
}

function withoutRows(values: Omit<Values, "at" | "time">): Values {
  const refuse = (): never => {
    throw new SplError("This function cannot stand in a sparkline.", "run");
  };
  return { ...values, at: refuse, time: refuse };
}
