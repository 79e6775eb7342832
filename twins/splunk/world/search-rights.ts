/** Which events the members of roles find, as the vendor's `authorize.conf.spec` merges what several roles say. */
import { splitList } from "@offhook/platform/base/split-list";
import type { EventAccess } from "../spl/context/event-access.ts";
import { SplError } from "../spl/spl-error.ts";
import { parseSearchExpression } from "../spl/syntax/parse-text.ts";
import { afterQuotes } from "../spl/syntax/text.ts";

/** What one role says. */
export interface RoleSearch extends Omit<EventAccess, "windowS" | "earliestS"> {
  /** Whether its filter adds to those of others. */
  readonly selecting: boolean;
  /** Seconds; 0: any number whatever others say; -1: as others say. */
  readonly windowS: number;
  readonly earliestS: number;
}

/** The least restrictive. */
export function broadestLimit(limits: readonly number[]): number | undefined {
  if (limits.includes(0)) return undefined;
  const most = Math.max(-1, ...limits);
  return most === -1 ? undefined : most;
}

/** Those that add: one of them is enough. Those that take away: all of them hold. */
export function combineFilters(roles: readonly Pick<RoleSearch, "filter" | "selecting">[]): string {
  const filters = roles.map(({ filter, selecting }) => ({ texts: filtersOf(filter), selecting }));
  const adding = filters.flatMap(({ texts, selecting }) => (selecting ? texts : []));
  const taking = filters.flatMap(({ texts, selecting }) => (selecting ? [] : texts));
  const isOpen = adding.length === 0 || adding.includes("*");
  const all = [
    ...(isOpen ? [] : [adding.map((text) => `(${text})`).join(" OR ")]),
    ...taking.filter((text) => text !== "*"),
  ];
  return all.map((text) => `(${text})`).join(" ");
}

/** A list, apart by semicolons that stand in no quotes. */
function filtersOf(text: string): string[] {
  return [...splitList(text, ";", afterQuotes)].flatMap((part) => part.trim() || []);
}

/** What is wrong with a filter; `undefined`: nothing. */
export function filterProblem(text: string): string | undefined {
  try {
    for (const part of filtersOf(text)) parseSearchExpression(part);
    return undefined;
  } catch (error) {
    if (error instanceof SplError) return error.message;
    throw error;
  }
}

const everything: EventAccess = {
  allowed: ["*", "_*"],
  disallowed: [],
  defaults: [],
  filter: "",
  windowS: undefined,
  earliestS: undefined,
};

/** Those of the system itself, which searches for nobody in particular. @param index that events are in when they name none */
export function systemSearchRights(index: string): EventAccess {
  return { ...everything, defaults: [index] };
}
