/** Rights of accounts, and the events that their searches may find. */
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import type { EventAccess } from "../spl/context/event-access.ts";
import { mergeRoles, type Rights, type RoleRow } from "./roles.ts";
import { systemSearchRights } from "./search-rights.ts";
import type { LogQueryTables, UserRow } from "./tables.ts";

/** Whether a name is `nobody`, which owns shared objects and runs as the system, and not an account of that name. */
export function isSystem(tables: LogQueryTables, name: string): boolean {
  return name === "nobody" && tables.table("users").get(name) === undefined;
}

/** The rights of an account by its name; an unknown account has no roles. */
export function rightsOfAccount(tables: LogQueryTables, name: string): Rights {
  const roles = tables.table("users").get(name)?.roles ?? [];
  return mergeRoles(roles, (role) => tables.table("roles").get(role));
}

/** The events that the searches of an account may find. @param index default index of events */
export function eventAccessOf(tables: LogQueryTables, name: string, index: string): EventAccess {
  return isSystem(tables, name) ? systemSearchRights(index) : rightsOfAccount(tables, name).search;
}

/** Whether an index may be searched. */
export function maySearchIndex({ allowed, disallowed }: EventAccess, index: string): boolean {
  return matchesAny(allowed, index) && !matchesAny(disallowed, index);
}

function matchesAny(patterns: readonly string[], index: string): boolean {
  return patterns.some((pattern) => {
    // `*` does not match internal indexes.
    if (pattern.startsWith("*") && index.startsWith("_")) return false;
    return matchesPattern(index, pattern);
  });
}

interface KnownRights {
  readonly rights: Rights;
  /** The rows of roles that the rights were merged from. */
  readonly roles: ReadonlyMap<string, RoleRow | undefined>;
}

/** The rights of accounts, merged again only after a row of them or of their roles has changed. */
export class AccountRights {
  readonly #tables: LogQueryTables;
  readonly #known = new WeakMap<UserRow, KnownRights>();

  constructor(tables: LogQueryTables) {
    this.#tables = tables;
  }

  of(user: UserRow): Rights {
    const table = this.#tables.table("roles");
    const known = this.#known.get(user);
    if (known !== undefined && [...known.roles].every(([name, row]) => table.get(name) === row)) {
      return known.rights;
    }
    const roles = new Map<string, RoleRow | undefined>();
    const rights = mergeRoles(user.roles, (name) => {
      const row = table.get(name);
      roles.set(name, row);
      return row;
    });
    this.#known.set(user, { rights, roles });
    return rights;
  }
}
