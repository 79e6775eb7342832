/** Events for searches to find: for each search one that has the values its comparisons ask for. */
import type { Pipeline } from "../../twins/log-query/spl/syntax/ast.ts";

type Event = Record<string, string | number>;

/** @param models names of data model objects, which stand before their fields' names: `Processes.process` */
export function eventOf(pipeline: Pipeline, models: ReadonlySet<string>, timeSeconds: number): Event {
  const event: Event = { _time: timeSeconds };
  for (const { args } of pipeline.commands) collect(args, event, models);
  return event;
}

/** Looks for the comparisons of search expressions in a command's arguments, whatever the command. */
function collect(value: unknown, event: Event, models: ReadonlySet<string>): void {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (Array.isArray(next)) pending.push(...next);
    if (typeof next !== "object" || next === null || Array.isArray(next)) continue;
    const node = "node" in next ? next.node : undefined;
    if (node === "not" || "pipeline" in next) continue;
    if (node === "comparison" && "field" in next && "value" in next)
      set(event, next.field, next.value, models);
    else if (node === "in" && "field" in next && "values" in next && Array.isArray(next.values)) {
      set(event, next.field, next.values[0], models);
    } else pending.push(...Object.values(next));
  }
}

function set(event: Event, field: unknown, value: unknown, models: ReadonlySet<string>): void {
  if (typeof field !== "string" || typeof value !== "object" || value === null || !("text" in value)) return;
  const [first = "", ...others] = field.split(".");
  const name = others.length > 0 && models.has(first) ? others.join(".") : field;
  const text = String(value.text).replaceAll("*", "x");
  if (!(name in event) && /^[\w.]+$/.test(name)) event[name] = text;
}
