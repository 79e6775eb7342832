/** Collections that can be listed and looked into: declared by their entries. */
import type { Operation } from "@offhook/platform/http/operation";
import type { LogQueryTwin } from "../log-query-twin.ts";
import type { Entry } from "../output/entry.ts";
import type { Call, Viewer } from "./call.ts";
import { checkArguments, feedResponse, pageArguments, pageOf } from "./entries.ts";
import { segmentOf } from "./name-segment.ts";
import { refused } from "./rest-error.ts";
import { route } from "./route.ts";

export interface CollectionDeclaration {
  /** `index`, of the operations `index.list` and `index.get`. */
  id: string;
  /** What the feed is called, and the handler in errors. */
  title: string;
  /** Below `/services`. */
  path: string;
  /** What is listed, in plain words: `the indexes`. */
  what: string;
  links?: Readonly<Record<string, string>>;
  /** Arguments beyond those of every collection. */
  parameters?: readonly string[];
  /** Whether it passes over arguments that it does not know. */
  anyArguments?: boolean;
  /** What a role has to be capable of to look at it. */
  capability?: string;
  /** The name of the entry that is meant by what stands in the address; the same unless said. */
  nameOf?(asked: string): string;
  /** @param params what stands at the `:name` segments of `path` */
  entries(
    viewer: Viewer,
    params: Readonly<Record<string, string>>,
  ): readonly Entry[] | Promise<readonly Entry[]>;
}

/** A collection as `rest` reads it. */
export type Collection = Pick<CollectionDeclaration, "title" | "path" | "entries">;

/** Its routes. */
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
        const page = pageOf(call, (await entries(call, call.params)).map(listed));
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
        const entry = await askedEntry(call, declaration);
        return singleResponse(call, entry, title, path, links);
      },
    }),
  ];
}

/** The entry that the address names. @throws RestError 404 */
export async function askedEntry(call: Call, declaration: CollectionDeclaration): Promise<Entry> {
  const { name = "" } = call.params;
  const { entries, nameOf = (asked) => asked } = declaration;
  return findEntry(await entries(call, call.params), nameOf(name));
}

/** @throws RestError 404 */
export function findEntry(entries: readonly Entry[], name: string): Entry {
  const entry = entries.find((one) => one.name === name);
  if (entry === undefined) throw refused(404, `Could not find object id=${name}`);
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

/** An entry in a list does not say which arguments it takes. */
export function listed({ fields: _, ...entry }: Entry): Entry {
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
