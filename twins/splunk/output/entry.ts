/** Writes entries and feeds of splunkd's REST API, as Atom or JSON. */
import { BUILD, VERSION } from "../product.ts";
import { isoSecond, isoTime } from "./timestamp.ts";
import { DECLARATION, xmlAttribute, xmlText } from "./xml.ts";

export type Content =
  | string
  | number
  | boolean
  | null
  | readonly Content[]
  | { readonly [name: string]: Content };

export interface Acl {
  readonly app: string;
  readonly owner: string;
  readonly sharing: "user" | "app" | "global" | "system";
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Seconds, of a job. */
  readonly ttl?: number;
  /** Whether the entry can be removed, shared, and have its permissions changed; absent: entries do not say. */
  readonly removable?: boolean;
}

export interface Entry {
  readonly name: string;
  /** Begins with `/services`. */
  readonly path: string;
  readonly author: string;
  readonly updatedMs: number;
  readonly publishedMs?: number;
  /** By relation: the last segment of an address below the entry, a whole path, or empty for the entry itself. `alternate` is implied. */
  readonly links: Readonly<Record<string, string>>;
  readonly acl: Acl;
  /** Arguments of the object; shown with a single entry only. */
  readonly fields?: {
    readonly optional: readonly string[];
    readonly required: readonly string[];
    readonly wildcard: readonly string[];
  };
  readonly content: Readonly<Record<string, Content>>;
  /** Replaces `content` when the content is plain text. */
  readonly text?: string;
}

export interface Feed {
  readonly title: string;
  readonly path: string;
  readonly updatedMs: number;
  readonly links: Readonly<Record<string, string>>;
  readonly entries: readonly Entry[];
  readonly paging: { readonly total: number; readonly perPage: number; readonly offset: number };
  /** Absent: JSON has no member `messages`. */
  readonly messages?: readonly { readonly type: string; readonly text: string }[];
}

/** What the form of an entry depends on beside the entry. */
export interface EntryContext {
  /** Address of the twin, without a slash at the end. */
  readonly origin: string;
  readonly timeZone: string;
  /** Whether the caller may change an object with this ACL. */
  canWrite(acl: Acl): boolean;
}

const NAMESPACES =
  'xmlns="http://www.w3.org/2005/Atom" xmlns:s="http://dev.splunk.com/ns/rest" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"';
const PREAMBLE = `${DECLARATION}\n<?xml-stylesheet type="text/xml" href="/static/atom.xsl"?>\n`;

// ---- Atom

export function feedXml(feed: Feed, context: EntryContext): string {
  const { total, perPage, offset } = feed.paging;
  const messages = (feed.messages ?? []).map(
    ({ type, text }) => `    <s:msg type="${xmlAttribute(type)}">${xmlText(text)}</s:msg>\n`,
  );
  return [
    PREAMBLE,
    `<feed ${NAMESPACES}>\n`,
    `  <title>${xmlText(feed.title)}</title>\n`,
    `  <id>${xmlText(context.origin + feed.path)}</id>\n`,
    `  <updated>${isoSecond(feed.updatedMs, context.timeZone)}</updated>\n`,
    `  <generator build="${BUILD}" version="${VERSION}"/>\n`,
    "  <author>\n    <name>Splunk</name>\n  </author>\n",
    ...Object.entries(feed.links).map(([rel, last]) => linkXml(rel, addressOf(feed.path, last), "  ")),
    `  <opensearch:totalResults>${total}</opensearch:totalResults>\n`,
    `  <opensearch:itemsPerPage>${perPage}</opensearch:itemsPerPage>\n`,
    `  <opensearch:startIndex>${offset}</opensearch:startIndex>\n`,
    messages.length === 0 ? "  <s:messages/>\n" : `  <s:messages>\n${messages.join("")}  </s:messages>\n`,
    ...feed.entries.map((entry) => entryElement(entry, context, "  ", "")),
    "</feed>\n",
  ].join("");
}

/** Writes an entry as a document of its own, as for a single job. */
export function entryXml(entry: Entry, context: EntryContext): string {
  return `${PREAMBLE}${entryElement(entry, context, "", ` ${NAMESPACES}`)}`;
}

function entryElement(entry: Entry, context: EntryContext, indent: string, attributes: string): string {
  const inner = `${indent}  `;
  const published =
    entry.publishedMs === undefined
      ? ""
      : `${inner}<published>${isoTime(entry.publishedMs, context.timeZone)}</published>\n`;
  const { fields } = entry;
  const attributesOf: Record<string, Content> =
    fields === undefined
      ? {}
      : {
          "eai:attributes": {
            optionalFields: fields.optional,
            requiredFields: fields.required,
            wildcardFields: fields.wildcard,
          },
        };
  const content = { ...entry.content, "eai:acl": aclContent(entry.acl, context), ...attributesOf };
  const updated =
    entry.publishedMs === undefined
      ? isoSecond(entry.updatedMs, context.timeZone)
      : isoTime(entry.updatedMs, context.timeZone);
  return [
    `${indent}<entry${attributes}>\n`,
    `${inner}<title>${xmlText(entry.name)}</title>\n`,
    `${inner}<id>${xmlText(context.origin + entry.path)}</id>\n`,
    `${inner}<updated>${updated}</updated>\n`,
    linkXml("alternate", entry.path, inner),
    published,
    `${inner}<author>\n${inner}  <name>${xmlText(entry.author)}</name>\n${inner}</author>\n`,
    ...Object.entries(entry.links).map(([rel, last]) => linkXml(rel, addressOf(entry.path, last), inner)),
    entry.text === undefined
      ? `${inner}<content type="text/xml">\n${dictXml(content, `${inner}  `)}${inner}</content>\n`
      : `${inner}<content type="text">${xmlText(entry.text)}</content>\n`,
    `${indent}</entry>\n`,
  ].join("");
}

function linkXml(rel: string, href: string, indent: string): string {
  return `${indent}<link href="${xmlAttribute(href)}" rel="${xmlAttribute(rel)}"/>\n`;
}

function dictXml(dict: Readonly<Record<string, Content>>, indent: string): string {
  const members = Object.entries(dict);
  if (members.length === 0) return `${indent}<s:dict/>\n`;
  const keys = members.map(([name, value]) => {
    const open = `${indent}  <s:key name="${xmlAttribute(name)}">`;
    if (isPlain(value)) return `${open}${scalarXml(value)}</s:key>\n`;
    return `${open}\n${nestedXml(value, `${indent}    `)}${indent}  </s:key>\n`;
  });
  return `${indent}<s:dict>\n${keys.join("")}${indent}</s:dict>\n`;
}

function nestedXml(value: readonly Content[] | { readonly [name: string]: Content }, indent: string): string {
  if (!isList(value)) return dictXml(value, indent);
  if (value.length === 0) return `${indent}<s:list/>\n`;
  const items = value.map((item) => {
    if (isPlain(item)) return `${indent}  <s:item>${scalarXml(item)}</s:item>\n`;
    return `${indent}  <s:item>\n${nestedXml(item, `${indent}    `)}${indent}  </s:item>\n`;
  });
  return `${indent}<s:list>\n${items.join("")}${indent}</s:list>\n`;
}

/** Writes booleans as 1 and 0. */
function scalarXml(value: string | number | boolean | null): string {
  if (value === null) return "";
  return typeof value === "boolean" ? (value ? "1" : "0") : xmlText(String(value));
}

function isPlain(value: Content): value is string | number | boolean | null {
  return typeof value !== "object" || value === null;
}

function isList(value: object): value is readonly Content[] {
  return Array.isArray(value);
}

function aclContent(acl: Acl, context: EntryContext): Record<string, Content> {
  const canWrite = context.canWrite(acl);
  const { app, owner, sharing, read, write, ttl, removable } = acl;
  const rights: Record<string, Content> =
    removable === undefined
      ? {}
      : {
          can_change_perms: canWrite,
          can_share_app: canWrite,
          can_share_global: canWrite,
          can_share_user: canWrite,
          removable: removable && canWrite,
        };
  return {
    app,
    can_list: true,
    can_write: canWrite,
    modifiable: canWrite,
    owner,
    // A private object has no permissions for others.
    perms: sharing === "user" ? null : { read, write },
    sharing,
    ...rights,
    ...(ttl === undefined ? {} : { ttl: String(ttl) }),
  };
}

// ---- JSON

export function feedJson(feed: Feed, context: EntryContext): object {
  return {
    links: linksJson(feed.path, feed.links),
    origin: context.origin + feed.path,
    updated: isoSecond(feed.updatedMs, context.timeZone),
    generator: { build: BUILD, version: VERSION },
    entry: feed.entries.map((entry) => entryJson(entry, context)),
    paging: feed.paging,
    messages: feed.messages,
  };
}

function entryJson(entry: Entry, context: EntryContext): object {
  const { name, path, author, updatedMs, publishedMs, links, acl, fields, content } = entry;
  const isJob = publishedMs !== undefined;
  return {
    name,
    id: context.origin + path,
    updated: isJob ? isoTime(updatedMs, context.timeZone) : isoSecond(updatedMs, context.timeZone),
    links: { alternate: path, ...linksJson(path, links) },
    ...(isJob ? { published: isoTime(publishedMs, context.timeZone) } : {}),
    author,
    acl: aclContent(acl, context),
    ...(fields === undefined ? {} : { fields }),
    content: entry.text ?? (isJob ? content : { "eai:acl": null, ...content }),
  };
}

function linksJson(path: string, links: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(links).map(([rel, last]) => [rel, addressOf(path, last)]));
}

function addressOf(path: string, last: string): string {
  if (last === "") return path;
  return last.startsWith("/") ? last : `${path}/${last}`;
}
