/** A request, as a route reads it. */
import type { VendorRequest } from "@offhook/platform/http/operation";
import type { LogQueryTwin } from "../log-query-twin.ts";
import type { Knowledge } from "../spl/context/knowledge.ts";
import type { UserRow } from "../world/tables.ts";
import type { Arguments } from "./arguments.ts";
import type { OutputMode } from "./output-mode.ts";

/** The account and the namespace that a request comes from. */
export interface Viewer {
  readonly twin: LogQueryTwin;
  /** `undefined` on routes without authentication. */
  readonly user: UserRow | undefined;
  /** Of `/servicesNS/{owner}/{app}/…`; `-` for any, `undefined` below `/services`. */
  readonly owner: string | undefined;
  readonly app: string | undefined;
}

export interface Call extends Viewer {
  readonly request: VendorRequest;
  /** Values of the `:name` segments of the route's path. */
  readonly params: Readonly<Record<string, string>>;
  readonly arguments: Arguments;
  readonly mode: OutputMode;
  /** Notes for the journal. */
  readonly notes: Record<string, unknown>;
}

/** The caller. @throws Error on a route without authentication */
export function userOf({ user }: Viewer): UserRow {
  if (user === undefined) throw new Error("an open route has no authenticated user");
  return user;
}

/** The owner of the namespace, else the caller. */
export function ownerOf(call: Viewer): string {
  return call.owner === undefined || call.owner === "-" ? userOf(call).name : call.owner;
}

export function appOf(call: Viewer): string {
  return call.app === undefined || call.app === "-" ? userOf(call).default_app : call.app;
}

/** The knowledge objects that the call's namespace shows. */
export function knowledgeOf(call: Viewer): Knowledge {
  return call.twin.knowledge.within({ owner: ownerOf(call), app: appOf(call) });
}
