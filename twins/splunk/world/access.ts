/** What an account's roles come to, by its name. */
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import type { EventAccess } from "../spl/context/event-access.ts";
import { type Rights, rightsOf } from "./roles.ts";
import { systemSearchRights } from "./search-rights.ts";
import type { LogQueryTables } from "./tables.ts";

/** Whose things are everybody's: what belongs to it is run by the system, unless somebody is called so. */
export function isSystem(tables: LogQueryTables, name: string): boolean {
  return name === "nobody" && tables.table("users").get(name) === undefined;
}

/** An account that there is not has no roles. */
export function rightsOfAccount(tables: LogQueryTables, name: string): Rights {
  const roles = tables.table("users").get(name)?.roles ?? [];
  return rightsOf(roles, (role) => tables.table("roles").get(role));
}

/** Which events somebody's searches find. @param index that events are in when they name none */
export function eventAccessOf(tables: LogQueryTables, name: string, index: string): EventAccess {
  return isSystem(tables, name) ? systemSearchRights(index) : rightsOfAccount(tables, name).search;
}

/** Whether a name is of an index that may be searched. */
export function maySearchIndex({ allowed, disallowed }: EventAccess, index: string): boolean {
  return fits(allowed, index) && !fits(disallowed, index);
}

function fits(patterns: readonly string[], index: string): boolean {
  return patterns.some((pattern) => {
    // Internal ones are told by a name that begins as theirs does.
    if (pattern.startsWith("*") && index.startsWith("_")) return false;
    return matchesPattern(index, pattern);
  });
}
