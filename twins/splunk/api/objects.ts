/** Collections whose entries can be created, changed and removed, declared by these operations. */
import type { Operation } from "@offhook/platform/http/operation";
import type { LogQueryTwin } from "../log-query-twin.ts";
import type { Entry } from "../output/entry.ts";
import type { Call } from "./call.ts";
import {
  type CollectionDeclaration,
  collectionRoutes,
  entryOfCall,
  feedOf,
  findEntry,
  singleResponse,
  toListEntry,
} from "./collection.ts";
import { feedResponse, pageOf } from "./entries.ts";
import { handlerError, missingArgument, type RestError } from "./rest-error.ts";
import { checkCapability, checkWrite } from "./rights.ts";
import { type RouteDeclaration, route } from "./route.ts";

type Work = void | Promise<void>;

export interface ObjectDeclaration extends CollectionDeclaration {
  /** One object in plain words: `an index`. */
  one: string;
  /** Capability that changes require. */
  changeCapability?: string;
  /** Capability that a change requires, where it depends on the call. */
  capabilityFor?(call: Call): string;
  /** Whether an argument beside `name` is a setting of the object; absent: every one is. */
  settings?: (name: string) => boolean;
  /** Creates an object. @returns its name */
  create?(call: Call, name: string): string | Promise<string>;
  update?(call: Call, entry: Entry): Work;
  /** Capability that is enough to change one's own object; `undefined`: the call is not such a change. */
  ownChangeCapability?(call: Call): string | undefined;
  remove?(call: Call, entry: Entry): Work;
  /** The error for an unknown name, where it is not a 404. */
  refuseMissing?(name: string): RestError;
  /** Other actions by name: `enable`. */
  actions?: Readonly<Record<string, ObjectAction>>;
  /** Changes owner and sharing of an object. */
  share?(call: Call, entry: Entry, given: Sharing): Work;
}

interface ObjectAction {
  summary: string;
  perform(call: Call, entry: Entry): Work;
}

export interface Sharing {
  owner: string;
  sharing: "user" | "app" | "global";
}

/** Arguments of the response, not settings of the object. */
const responseArguments: readonly string[] = ["name", "output_mode"];

/** Makes the routes of an object collection. */
export function objectRoutes(declaration: ObjectDeclaration): Operation<LogQueryTwin>[] {
  const { id, title, path, what, one, links = {}, changeCapability, actions = {} } = declaration;
  const { create, update, remove, share, capabilityFor } = declaration;
  const required = changeCapability === undefined ? {} : { capability: changeCapability };
  const change = (more: Omit<RouteDeclaration, "handle">, handle: RouteDeclaration["handle"]) =>
    route({
      ...required,
      ...more,
      handle(call) {
        if (capabilityFor !== undefined) checkCapability(call, capabilityFor(call));
        return handle(call);
      },
    });
  const findEntryOf = (call: Call) => entryOfCall(call, declaration);
  const findWritable = async (call: Call) => {
    const entry = await findEntryOf(call);
    checkWrite(call, `${title}/${entry.name}`, entry.acl);
    return entry;
  };
  const respondWith = async (call: Call, name: string, status = 200) =>
    singleResponse(
      call,
      findEntry(await declaration.entries(call, call.params), name),
      title,
      path,
      links,
      status,
    );
  const named = `${path}/:name`;
  return [
    ...collectionRoutes(declaration),
    ...route({
      id: `${id}.reload`,
      method: "GET",
      path: `${path}/_reload`,
      ...required,
      summary: `Read ${what} again, which are never out of date.`,
      handle: (call) => emptyResponse(call, declaration),
    }),
    ...change(
      { id: `${id}.reload`, method: "POST", path: `${named}/_reload`, summary: `Read ${one} again.` },
      async (call) => respondWith(call, (await findEntryOf(call)).name),
    ),
    ...(create
      ? change({ id: `${id}.create`, method: "POST", path, summary: `Make ${one}.` }, async (call) => {
          const name = call.arguments.text("name");
          if (name === undefined) {
            throw handlerError(400, 'Cannot perform action "POST" without a target name to act on.');
          }
          checkSettings(call, declaration);
          return respondWith(call, await create(call, name), 201);
        })
      : []),
    ...change(
      { id: `${id}.delete`, method: "DELETE", path, summary: `Refuse to remove ${one} that is not named.` },
      () => {
        throw handlerError(400, 'Cannot perform action "DELETE" without a target name to act on.');
      },
    ),
    ...(update
      ? route({
          id: `${id}.update`,
          method: "POST",
          path: named,
          summary: `Change ${one}.`,
          async handle(call) {
            const own = declaration.ownChangeCapability?.(call);
            const capability = own ?? capabilityFor?.(call) ?? changeCapability;
            if (capability !== undefined) checkCapability(call, capability);
            const entry = await (own === undefined ? findWritable(call) : findEntryOf(call));
            checkSettings(call, declaration);
            await update(call, entry);
            return respondWith(call, entry.name);
          },
        })
      : []),
    ...(remove
      ? change(
          { id: `${id}.delete`, method: "DELETE", path: named, summary: `Remove ${one}.` },
          async (call) => {
            const { name = "" } = call.params;
            const { refuseMissing } = declaration;
            if (refuseMissing !== undefined) {
              const entries = await declaration.entries(call, call.params);
              if (!entries.some((entry) => entry.name === name)) throw refuseMissing(name);
            }
            await remove(call, await findWritable(call));
            const page = pageOf(call, (await declaration.entries(call, call.params)).map(toListEntry));
            return feedResponse(call, { ...feedOf(call, title, path, links), ...page });
          },
        )
      : []),
    ...Object.entries(actions).flatMap(([action, { summary, perform }]) =>
      change({ id: `${id}.${action}`, method: "POST", path: `${named}/${action}`, summary }, async (call) => {
        const entry = await findWritable(call);
        await perform(call, entry);
        return respondWith(call, entry.name);
      }),
    ),
    ...(share
      ? change(
          {
            id: `${id}.share`,
            method: "POST",
            path: `${named}/acl`,
            summary: `Say whose ${one} is, and who sees it.`,
          },
          async (call) => {
            const entry = await findWritable(call);
            await share(call, entry, readSharing(call));
            return respondWith(call, entry.name);
          },
        )
      : []),
  ];
}

/** Responds to a reload: the collection without entries. */
function emptyResponse(call: Call, { title, path, links = {} }: CollectionDeclaration) {
  const paging = { total: 0, perPage: 30, offset: 0 };
  return feedResponse(call, { ...feedOf(call, title, path, links), entries: [], paging });
}

/** The settings in a request. */
export function readSettings(call: Call): Record<string, string> {
  const names = call.arguments.names().filter((name) => !responseArguments.includes(name));
  return Object.fromEntries(names.map((name) => [name, call.arguments.get(name) ?? ""]));
}

/** @throws RestError 400 */
function checkSettings(call: Call, { settings }: ObjectDeclaration): void {
  if (settings === undefined) return;
  for (const name of Object.keys(readSettings(call))) {
    if (!settings(name)) throw handlerError(400, `Argument "${name}" is not supported by this handler.`);
  }
}

/** @throws RestError 400 */
export function readSharing(call: Call): Sharing {
  const owner = call.arguments.text("owner");
  const sharing = call.arguments.text("sharing");
  if (owner === undefined) throw missingArgument("owner");
  if (sharing === "user" || sharing === "app" || sharing === "global") return { owner, sharing };
  throw handlerError(400, 'The "sharing" argument must be one of: user, app, global.');
}
