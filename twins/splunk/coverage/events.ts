/** Events for searches to find: for each search one that has the values its comparisons ask for, and the fields it groups by. */
import type { Pipeline } from "../spl/syntax/ast.ts";

type Event = Record<string, string | number>;

/** @param objects names of data models' objects, which stand before their fields' names: `Processes.process` */
export function eventOf(pipeline: Pipeline, objects: ReadonlySet<string>, timeSeconds: number): Event {
  const event: Event = { _time: timeSeconds };
  const grouped: string[] = [];
  for (const { args } of pipeline.commands) collect(args, event, grouped, objects);
  for (const field of grouped) set(event, field, "=", `a ${field}`, objects);
  return event;
}

/** Looks for the comparisons of search expressions, and for fields to group by, in a command's arguments, whatever the command. */
function collect(args: unknown, event: Event, grouped: string[], objects: ReadonlySet<string>): void {
  const pending: unknown[] = [args];
  while (pending.length > 0) {
    const next = pending.pop();
    if (Array.isArray(next)) pending.push(...next.toReversed());
    if (typeof next !== "object" || next === null || Array.isArray(next)) continue;
    const node = "node" in next ? next.node : undefined;
    if (node === "not" || "pipeline" in next) continue;
    if ("by" in next && Array.isArray(next.by)) {
      grouped.push(...next.by.filter((name) => typeof name === "string"));
    }
    if (node === "comparison" && "field" in next && "value" in next && "comparator" in next) {
      set(event, next.field, next.comparator, textOf(next.value), objects);
    } else if (node === "in" && "field" in next && "values" in next && Array.isArray(next.values)) {
      set(event, next.field, "=", textOf(next.values[0]), objects);
    } else pending.push(...Object.values(next).toReversed());
  }
}

function textOf(value: unknown): string {
  return typeof value === "object" && value !== null && "text" in value ? String(value.text) : "";
}

function set(
  event: Event,
  field: unknown,
  comparator: unknown,
  text: string,
  objects: ReadonlySet<string>,
): void {
  if (typeof field !== "string") return;
  const [first = "", ...others] = field.split(".");
  const name = others.length > 0 && objects.has(first) ? others.join(".") : field;
  // Events are in the index that every search looks in.
  if (name in event || name === "index" || !/^[\w.]+$/.test(name)) return;
  event[name] = compared(comparator, text);
}

/** A value for which the comparison holds. */
function compared(comparator: unknown, text: string): string {
  const value = text.replaceAll("*", "x");
  if (comparator === "!=") return `not ${value}`;
  if (comparator === ">") return String(Number(value) + 1);
  if (comparator === "<") return String(Number(value) - 1);
  return value;
}
