/** Read-only collections, declared by their entries. */
import type { Operation } from "@offhook/platform/http/operation";
import type { LogQueryTwin } from "../log-query-twin.ts";
import type { Entry } from "../output/entry.ts";
import type { Call, Viewer } from "./call.ts";
import { checkArguments, feedResponse, pageArguments, pageOf } from "./entries.ts";
import { segmentOf } from "./name-segment.ts";
import { handlerError } from "./rest-error.ts";
import { route } from "./route.ts";

export interface CollectionDeclaration {
  /** Stem of the operation ids: `index` for `index.list` and `index.get`. */
  id: string;
  /** Title of the feed, and name of the handler in errors. */
  title: string;
  /** Below `/services`. */
  path: string;
  /** The listed objects in plain words: `the indexes`. */
  what: string;
  links?: Readonly<Record<string, string>>;
  /** Arguments beside those of every collection. */
  parameters?: readonly string[];
  /** Whether unknown arguments are ignored instead of refused. */
  anyArguments?: boolean;
  /** Capability that reading requires. */
  capability?: string;
  /** Maps the name in the address to the entry's name; default: the same. */
  nameOf?(asked: string): string;
  /** @param params values of the `:name` segments of `path` */
  entries(
    viewer: Viewer,
    params: Readonly<Record<string, string>>,
  ): readonly Entry[] | Promise<readonly Entry[]>;
}

/** The parts of a collection that the command `rest` needs. */
export type Collection = Pick<CollectionDeclaration, "title" | "path" | "entries">;

/** Makes the routes of a collection. */
export function collectionRoutes(declaration: CollectionDeclaration): Operation<LogQueryTwin>[] {
  const {
    id,
    title,
    path,
    what,
    links = {},
    parameters = [],
    anyArguments,
    capability,
    entries,
  } = declaration;
  const needs = capability === undefined ? {} : { capability };
  const known = [...pageArguments, ...parameters];
  return [
    ...route({
      id: `${id}.list`,
      method: "GET",
      path,
      ...needs,
      summary: `List ${what}.`,
      async handle(call) {
        if (!anyArguments) checkArguments(call, known);
        const page = pageOf(call, (await entries(call, call.params)).map(toListEntry));
        return feedResponse(call, { ...feedOf(call, title, path, links), ...page });
      },
    }),
    ...route({
      id: `${id}.get`,
      method: "GET",
      path: `${path}/:name`,
      ...needs,
      summary: `Show one of ${what}.`,
      async handle(call) {
        if (!anyArguments) checkArguments(call, known);
        const entry = await entryOfCall(call, declaration);
        return singleResponse(call, entry, title, path, links);
      },
    }),
  ];
}

/** Finds the entry that the address names. @throws RestError 404 */
export async function entryOfCall(call: Call, declaration: CollectionDeclaration): Promise<Entry> {
  const { name = "" } = call.params;
  const { entries, nameOf = (asked) => asked } = declaration;
  return findEntry(await entries(call, call.params), nameOf(name));
}

/** @throws RestError 404 */
export function findEntry(entries: readonly Entry[], name: string): Entry {
  const entry = entries.find((one) => one.name === name);
  if (entry === undefined) throw handlerError(404, `Could not find object id=${name}`);
  return entry;
}

export function singleResponse(
  call: Call,
  entry: Entry,
  title: string,
  path: string,
  links: Readonly<Record<string, string>>,
  status = 200,
) {
  const paging = { total: 1, perPage: 30, offset: 0 };
  return feedResponse(call, { ...feedOf(call, title, path, links), entries: [entry], paging }, status);
}

/** Removes the arguments of an entry, which lists do not show. */
export function toListEntry({ fields: _, ...entry }: Entry): Entry {
  return entry;
}

export function feedOf(call: Call, title: string, path: string, links: Readonly<Record<string, string>>) {
  const named = (text: string, shown: (name: string) => string) =>
    text.replace(/:(\w+)/g, (_, name: string) => shown(call.params[name] ?? ""));
  const { owner, app = "-" } = call;
  const prefix = owner === undefined ? "/services" : `/servicesNS/${segmentOf(owner)}/${segmentOf(app)}`;
  return {
    title: named(title, (name) => name),
    path: `${prefix}${named(path, segmentOf)}`,
    updatedMs: call.twin.clock.now(),
    links,
    messages: [],
  };
}
