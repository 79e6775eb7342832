/** Responses with entries: a single one, or a page of a collection. */
import { ownValue } from "@offhook/platform/base/lookup-table";
import type { VendorResponse } from "@offhook/platform/http/operation";
import {
  type Content,
  type Entry,
  type EntryContext,
  entryXml,
  type Feed,
  feedJson,
  feedXml,
} from "../output/entry.ts";
import { isLike } from "../spl/relation/wildcards.ts";
import type { Call } from "./call.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { handlerError } from "./rest-error.ts";
import { canWrite } from "./rights.ts";

export function entryContext(call: Call): EntryContext {
  const { origin } = call.request;
  const { timeZone } = call.twin;
  return { origin, timeZone, canWrite: (acl) => canWrite(call, acl) };
}

export function feedResponse(call: Call, feed: Feed, status = 200): VendorResponse {
  if (call.mode === "json") {
    const body = JSON.stringify(feedJson(feed, entryContext(call)));
    return { status, headers: { "content-type": JSON_TYPE }, body };
  }
  return { status, headers: { "content-type": XML_TYPE }, body: feedXml(feed, entryContext(call)) };
}

/** Responds with a single entry: a document of its own in Atom, a feed of one in JSON. */
export function documentResponse(call: Call, entry: Entry, feed: Omit<Feed, "entries">): VendorResponse {
  if (call.mode === "json") return feedResponse(call, { ...feed, entries: [entry] });
  return { status: 200, headers: { "content-type": XML_TYPE }, body: entryXml(entry, entryContext(call)) };
}

export interface Page {
  entries: Entry[];
  paging: Feed["paging"];
}

const sortModes = ["auto", "alpha", "alpha_case", "num"] as const;
/** Arguments of every collection. */
export const pageArguments = [
  "count",
  "offset",
  "search",
  "sort_key",
  "sort_dir",
  "sort_mode",
  "f",
  "output_mode",
];

/** Filters, sorts and cuts a collection to the page that the arguments ask for. @throws RestError 400 */
export function pageOf(call: Call, all: readonly Entry[], defaultOrder: "name" | "given" = "name"): Page {
  const given = call.arguments;
  const count = given.integer("count", 30, -1);
  const offset = given.integer("offset", 0);
  const key = given.text("sort_key") ?? (defaultOrder === "name" ? "name" : undefined);
  const found = all.filter(matcherOf(given.all("search").join(" ")));
  const sorted = key === undefined ? found : found.toSorted(orderOf(call, key));
  const perPage = count <= 0 ? Math.max(found.length, 0) : count;
  const entries = sorted
    .slice(offset, count <= 0 ? undefined : offset + count)
    .map(selectContent(given.all("f")));
  return { entries, paging: { total: found.length, perPage: count <= 0 ? 0 : perPage, offset } };
}

/** Refuses arguments that a strict collection does not know. @throws RestError 400 */
export function checkArguments(call: Call, known: readonly string[]): void {
  for (const name of call.arguments.names()) {
    if (!known.includes(name))
      throw handlerError(400, `Argument "${name}" is not supported by this handler.`);
  }
}

/** Compiles a filter such as `name=a* disabled=0 word`, all of which must match. A bare word may match any member. */
function matcherOf(search: string): (entry: Entry) => boolean {
  const terms = [...search.matchAll(/(?:([\w.:]+)=)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/g)].filter(
    ([, key, , word]) => key !== undefined || !/^(AND|\|)$/.test(word ?? ""),
  );
  const checks = terms.map(([, key, quoted, word]) => {
    const text = quoted === undefined ? (word ?? "") : quoted.replace(/\\(.)/g, "$1");
    if (key !== undefined) {
      return (entry: Entry) => isLike(key === "name" ? entry.name : plainText(valueAt(entry, key)), text);
    }
    const pattern = `*${text}*`;
    return (entry: Entry) =>
      isLike(entry.name, pattern) ||
      Object.values(entry.content).some((value) => isLike(plainText(value), pattern));
  });
  return (entry) => checks.every((check) => check(entry));
}

function valueAt(entry: Entry, key: string): Content {
  if (key.startsWith("eai:acl.")) {
    const value = ownValue({ ...entry.acl }, key.slice("eai:acl.".length));
    return typeof value === "string" ? value : null;
  }
  return ownValue(entry.content, key) ?? null;
}

function plainText(value: Content): string {
  if (typeof value === "boolean") return value ? "1" : "0";
  return typeof value === "object" ? JSON.stringify(value ?? "") : String(value);
}

function orderOf(call: Call, key: string): (a: Entry, b: Entry) => number {
  const direction = call.arguments.text("sort_dir") ?? "asc";
  if (direction !== "asc" && direction !== "desc")
    throw handlerError(400, `Unknown sort order "${direction}".`);
  // An unknown mode is ignored; an unknown order is refused.
  const mode = sortModes.find((one) => one === call.arguments.text("sort_mode")) ?? "auto";
  const sign = direction === "asc" ? 1 : -1;
  const text = (entry: Entry) => (key === "name" ? entry.name : plainText(valueAt(entry, key)));
  return (a, b) => sign * compare(text(a), text(b), mode);
}

function compare(a: string, b: string, mode: string): number {
  const numbers = [a, b].map((text) => (text.trim() === "" ? Number.NaN : Number(text)));
  const [left = Number.NaN, right = Number.NaN] = numbers;
  if ((mode === "auto" || mode === "num") && !numbers.some(Number.isNaN)) return left - right;
  const [one, other] = mode === "alpha_case" ? [a, b] : [a.toLowerCase(), b.toLowerCase()];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Limits the content to the named members. */
function selectContent(names: readonly string[]): (entry: Entry) => Entry {
  if (names.length === 0) return (entry) => entry;
  const patterns = names.flatMap((name) => name.split(",")).map((name) => name.trim());
  return (entry) => ({
    ...entry,
    content: Object.fromEntries(
      Object.entries(entry.content).filter(([name]) => patterns.some((pattern) => isLike(name, pattern))),
    ),
  });
}
