/** Paths into JSON in SPL's notation: `a.b{0}.c`, `a{}.b`. */
import type { ExactJson } from "./exact-json.ts";

/** A member, an item of a list (from 0), or all items. */
export type PathStep = { readonly member: string } | { readonly item: number } | { readonly all: true };

const piece = /([^.{}]+)|\{(\d*)\}/y;

/** @returns `undefined` for a malformed path */
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

/** The values at a path: several if it contains `{}`. */
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

/** Whether a path contains `{}`, all items of a list. */
export function hasWildcard(steps: readonly PathStep[]): boolean {
  return steps.some((step) => "all" in step);
}

/**
 * Changes the values at a path and creates missing members.
 * @param change gets `undefined` for a missing value; returns `undefined` to leave it unchanged
 */
export function changeAt(
  value: ExactJson | undefined,
  steps: readonly PathStep[],
  change: (before: ExactJson | undefined) => ExactJson | undefined,
): ExactJson | undefined {
  const [step, ...rest] = steps;
  if (step === undefined) return change(value);
  if ("member" in step) {
    if (value !== undefined && !(value instanceof Map)) return undefined;
    const members = new Map(value ?? []);
    const changed = changeAt(members.get(step.member), rest, change);
    return changed === undefined ? value : members.set(step.member, changed);
  }
  if (!Array.isArray(value)) return undefined;
  const items = [...value];
  items.forEach((item, index) => {
    if ("all" in step || step.item === index) items[index] = changeAt(item, rest, change) ?? item;
  });
  if ("item" in step && step.item === items.length) {
    const added = changeAt(undefined, rest, change);
    if (added !== undefined) items.push(added);
  }
  return items;
}
