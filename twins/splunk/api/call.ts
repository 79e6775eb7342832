/** A request, as a route reads it. */
import type { VendorRequest } from "@offhook/platform/http/operation";
import type { LogQueryTwin } from "../log-query-twin.ts";
import type { Knowledge } from "../spl/context/knowledge.ts";
import type { UserRow } from "../world/tables.ts";
import type { Arguments } from "./arguments.ts";
import type { OutputMode } from "./output-mode.ts";

/** Who looks at something, and from where. */
export interface Viewer {
  readonly twin: LogQueryTwin;
  /** `undefined` where nobody has to say. */
  readonly user: UserRow | undefined;
  /** Of `/servicesNS/{owner}/{app}/…`; `-` for any, `undefined` below `/services`. */
  readonly owner: string | undefined;
  readonly app: string | undefined;
}

export interface Call extends Viewer {
  readonly request: VendorRequest;
  /** What the `:name` segments of the route's path mean. */
  readonly params: Readonly<Record<string, string>>;
  readonly arguments: Arguments;
  readonly mode: OutputMode;
  /** What the journal keeps beside the request. */
  readonly notes: Record<string, unknown>;
}

/** Who asks. */
export function userOf({ user }: Viewer): UserRow {
  if (user === undefined) throw new Error("this route is open to anybody, and asks who it is");
  return user;
}

/** Whose things are meant: the namespace's owner, else who asks. */
export function ownerOf(call: Viewer): string {
  return call.owner === undefined || call.owner === "-" ? userOf(call).name : call.owner;
}

export function appOf(call: Viewer): string {
  return call.app === undefined || call.app === "-" ? userOf(call).default_app : call.app;
}

/** What searches refer to by name, as it is seen where something is asked. */
export function knowledgeOf(call: Viewer): Knowledge {
  return call.twin.knowledge.within({ owner: ownerOf(call), app: appOf(call) });
}
