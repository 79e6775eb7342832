/** Collections whose entries are made, changed and removed: declared by what each of that does to the world. */
import type { Operation } from "@offhook/platform/http/operation";
import type { LogQueryTwin } from "../log-query-twin.ts";
import type { Entry } from "../output/entry.ts";
import type { Call } from "./call.ts";
import {
  askedEntry,
  type CollectionDeclaration,
  collectionRoutes,
  feedOf,
  findEntry,
  listed,
  singleResponse,
} from "./collection.ts";
import { feedResponse, pageOf } from "./entries.ts";
import { missing, type RestError, refused } from "./rest-error.ts";
import { checkCapability, checkWrite } from "./rights.ts";
import { type RouteDeclaration, route } from "./route.ts";

type Work = void | Promise<void>;

export interface ObjectDeclaration extends CollectionDeclaration {
  /** One of them, in plain words: `an index`. */
  one: string;
  /** What a role has to be capable of to change something. */
  changeCapability?: string;
  /** The same, where it depends on what is changed. */
  capabilityFor?(call: Call): string;
  /** Arguments that a new one takes beside `name`, and one that is changed. `undefined`: any. */
  settings?: (name: string) => boolean;
  /** Makes one. @returns the name it is found by */
  create?(call: Call, name: string): string | Promise<string>;
  update?(call: Call, entry: Entry): Work;
  /** What suffices for a change that one makes to what is one's own, whatever else it takes. `undefined`: it is no such change. */
  ownChange?(call: Call): string | undefined;
  remove?(call: Call, entry: Entry): Work;
  /** What is said of a name that there is not, where that is no 404. */
  refuseMissing?(name: string): RestError;
  /** By name, what else can be done to one: `enable`. */
  actions?: Readonly<Record<string, ObjectAction>>;
  /** Shares one with others, or gives it to somebody. */
  share?(call: Call, entry: Entry, given: Sharing): Work;
}

export interface ObjectAction {
  summary: string;
  perform(call: Call, entry: Entry): Work;
}

export interface Sharing {
  owner: string;
  sharing: "user" | "app" | "global";
}

/** Arguments that say how to answer, and nothing of the object. */
const answering: readonly string[] = ["name", "output_mode"];

/** Its routes. */
export function objectRoutes(declaration: ObjectDeclaration): Operation<LogQueryTwin>[] {
  const { id, title, path, what, one, links = {}, changeCapability, actions = {} } = declaration;
  const { create, update, remove, share, capabilityFor } = declaration;
  const needs = changeCapability === undefined ? {} : { capability: changeCapability };
  const change = (more: Omit<RouteDeclaration, "handle">, handle: RouteDeclaration["handle"]) =>
    route({
      ...needs,
      ...more,
      handle(call) {
        if (capabilityFor !== undefined) checkCapability(call, capabilityFor(call));
        return handle(call);
      },
    });
  const asked = (call: Call) => askedEntry(call, declaration);
  const toChange = async (call: Call) => {
    const entry = await asked(call);
    checkWrite(call, `${title}/${entry.name}`, entry.acl);
    return entry;
  };
  const shown = async (call: Call, name: string, status = 200) =>
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
      ...needs,
      summary: `Read ${what} again, which are never out of date.`,
      handle: (call) => emptyResponse(call, declaration),
    }),
    ...change(
      { id: `${id}.reload`, method: "POST", path: `${named}/_reload`, summary: `Read ${one} again.` },
      async (call) => shown(call, (await asked(call)).name),
    ),
    ...(create
      ? change({ id: `${id}.create`, method: "POST", path, summary: `Make ${one}.` }, async (call) => {
          const name = call.arguments.text("name");
          if (name === undefined) {
            throw refused(400, 'Cannot perform action "POST" without a target name to act on.');
          }
          checkSettings(call, declaration);
          return shown(call, await create(call, name), 201);
        })
      : []),
    ...change(
      { id: `${id}.delete`, method: "DELETE", path, summary: `Refuse to remove ${one} that is not named.` },
      () => {
        throw refused(400, 'Cannot perform action "DELETE" without a target name to act on.');
      },
    ),
    ...(update
      ? route({
          id: `${id}.update`,
          method: "POST",
          path: named,
          summary: `Change ${one}.`,
          async handle(call) {
            const own = declaration.ownChange?.(call);
            const capability = own ?? capabilityFor?.(call) ?? changeCapability;
            if (capability !== undefined) checkCapability(call, capability);
            const entry = await (own === undefined ? toChange(call) : asked(call));
            checkSettings(call, declaration);
            await update(call, entry);
            return shown(call, entry.name);
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
            await remove(call, await toChange(call));
            const page = pageOf(call, (await declaration.entries(call, call.params)).map(listed));
            return feedResponse(call, { ...feedOf(call, title, path, links), ...page });
          },
        )
      : []),
    ...Object.entries(actions).flatMap(([action, { summary, perform }]) =>
      change({ id: `${id}.${action}`, method: "POST", path: `${named}/${action}`, summary }, async (call) => {
        const entry = await toChange(call);
        await perform(call, entry);
        return shown(call, entry.name);
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
            const entry = await toChange(call);
            await share(call, entry, readSharing(call));
            return shown(call, entry.name);
          },
        )
      : []),
  ];
}

/** The answer to reloading: the collection without its entries. */
function emptyResponse(call: Call, { title, path, links = {} }: CollectionDeclaration) {
  const paging = { total: 0, perPage: 30, offset: 0 };
  return feedResponse(call, { ...feedOf(call, title, path, links), entries: [], paging });
}

/** What a request says of an object: the arguments that are settings. */
export function givenSettings(call: Call): Record<string, string> {
  const names = call.arguments.names().filter((name) => !answering.includes(name));
  return Object.fromEntries(names.map((name) => [name, call.arguments.get(name) ?? ""]));
}

/** @throws RestError 400 */
function checkSettings(call: Call, { settings }: ObjectDeclaration): void {
  if (settings === undefined) return;
  for (const name of Object.keys(givenSettings(call))) {
    if (!settings(name)) throw refused(400, `Argument "${name}" is not supported by this handler.`);
  }
}

/** @throws RestError 400 */
export function readSharing(call: Call): Sharing {
  const owner = call.arguments.text("owner");
  const sharing = call.arguments.text("sharing");
  if (owner === undefined) throw missing("owner");
  if (sharing === "user" || sharing === "app" || sharing === "global") return { owner, sharing };
  throw refused(400, 'The "sharing" argument must be one of: user, app, global.');
}
