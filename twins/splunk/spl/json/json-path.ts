/** Paths into JSON as SPL writes them: `a.b{0}.c`, `a{}.b`. */
import type { ExactJson } from "./exact-json.ts";

/** A member, an item of a list (from 0), or all items. */
export type PathStep = { readonly member: string } | { readonly item: number } | { readonly all: true };

const piece = /([^.{}]+)|\{(\d*)\}/y;

/** `undefined` for what is no path. */
export function readJsonPath(path: string): readonly PathStep[] | undefined {
  const steps: PathStep[] = [];
  let at = 0;
  while (at < path.length) {
    if (path[at] === "." && at > 0) at++;
    piece.lastIndex = at;
    const match = piece.exec(path);
    if (!match) return undefined;
    const [whole, member, item = ""] = match;
    at += whole.length;
    steps.push(member !== undefined ? { member } : item === "" ? { all: true } : { item: Number(item) });
  }
  return steps;
}

/** What stands at a path: several values where it goes over all items of a list. */
export function valuesAt(value: ExactJson, steps: readonly PathStep[]): ExactJson[] {
  let values = [value];
  for (const step of steps) values = values.flatMap((one) => stepInto(one, step));
  return values;
}

function stepInto(value: ExactJson, step: PathStep): ExactJson[] {
  if ("member" in step) {
    const member = value instanceof Map ? value.get(step.member) : undefined;
    return member === undefined ? [] : [member];
  }
  if (!Array.isArray(value)) return [];
  if ("all" in step) return value;
  const item = value[step.item];
  return item === undefined ? [] : [item];
}

/** Whether it goes over all items of a list. */
export function goesOverAll(steps: readonly PathStep[]): boolean {
  return steps.some((step) => "all" in step);
}

/**
 * The value with what stands at a path changed; members that are missing are made.
 * @param change gets `undefined` for what is not there yet; what it answers `undefined` for stays as it is
 */
export function changedAt(
  value: ExactJson | undefined,
  steps: readonly PathStep[],
  change: (before: ExactJson | undefined) => ExactJson | undefined,
): ExactJson | undefined {
  const [step, ...rest] = steps;
  if (step === undefined) return change(value);
  if ("member" in step) {
    if (value !== undefined && !(value instanceof Map)) return undefined;
    const members = new Map(value ?? []);
    const changed = changedAt(members.get(step.member), rest, change);
    return changed === undefined ? value : members.set(step.member, changed);
  }
  if (!Array.isArray(value)) return undefined;
  const items = [...value];
  items.forEach((item, index) => {
    if ("all" in step || step.item === index) items[index] = changedAt(item, rest, change) ?? item;
  });
  if ("item" in step && step.item === items.length) {
    const added = changedAt(undefined, rest, change);
    if (added !== undefined) items.push(added);
  }
  return items;
}
