/** A lenient XML reader: elements, attributes and texts, as far as the text is well-formed. */
import { lookupTable } from "@offhook/platform/base/lookup-table";

export interface XmlElement {
  name: string;
  attributes: [name: string, value: string][];
  children: XmlElement[];
  /** Trimmed text outside of the children. */
  text: string;
}

const MAX_DEPTH = 200;
/** Start and end of markup that is no tag. If unclosed, it extends to the end of the text. */
const enclosures = [
  ["<!--", "-->"],
  ["<?", "?>"],
  ["<![CDATA[", "]]>"],
  ["<!", ">"],
] as const;
const tagStart = /<(\/?)([^\s/<>"'=]+)/y;
const tagPart = /["'<>]/g;
/** A word without a value is matched as a whole: retries from each of its characters would take quadratic time. */
const attribute = /([^\s=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'))?/g;
const entities = lookupTable<string>({ lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" });

/** The outermost elements; none if the text is no XML. */
export function readXml(text: string): XmlElement[] {
  if (!/^\s*</.test(text)) return [];
  const root: XmlElement = { name: "", attributes: [], children: [], text: "" };
  const open = [root];
  for (let at = 0; at < text.length; ) {
    const parent = open.at(-1) ?? root;
    const start = text.indexOf("<", at);
    parent.text += decodeEntities(text.slice(at, start === -1 ? undefined : start));
    if (start === -1) break;
    const markup = markupAt(text, start);
    at = markup.end;
    if (markup.tag === undefined) parent.text += markup.text;
    else if (markup.tag.kind === "end") closeElement(open, markup.tag.name);
    else {
      const { kind, name, attributes } = markup.tag;
      const element: XmlElement = { name, attributes: attributesOf(attributes), children: [], text: "" };
      parent.children.push(element);
      if (kind === "start" && open.length < MAX_DEPTH) open.push(element);
    }
  }
  trimTexts(root);
  return root.children;
}

interface Tag {
  kind: "start" | "end" | "empty";
  name: string;
  attributes: string;
}

/** Reads the markup that begins with `<` at a position: a tag, or plain text. */
function markupAt(text: string, at: number): { end: number; text: string; tag?: Tag } {
  const enclosure = enclosures.find(([opening]) => text.startsWith(opening, at));
  if (enclosure !== undefined) {
    const [opening, closing] = enclosure;
    const from = at + opening.length;
    const close = text.indexOf(closing, from);
    const inside = text.slice(from, close === -1 ? undefined : close);
    const end = close === -1 ? text.length : close + closing.length;
    return { end, text: opening === "<![CDATA[" ? inside : "" };
  }
  tagStart.lastIndex = at;
  const [start = "<", slash, name] = tagStart.exec(text) ?? [];
  if (name === undefined) return { end: at + 1, text: "<" };
  const end = tagEnd(text, at + start.length);
  if (text[end] !== ">") return { end, text: decodeEntities(text.slice(at, end)) };
  const inside = text.slice(at + start.length, end);
  const kind = slash === "/" ? "end" : inside.endsWith("/") ? "empty" : "start";
  return { end: end + 1, text: "", tag: { kind, name, attributes: inside } };
}

/** Position of the tag's `>` outside of quotes; for an unclosed tag, the position where reading stopped. */
function tagEnd(text: string, from: number): number {
  for (let at = from; ; ) {
    tagPart.lastIndex = at;
    const found = tagPart.exec(text);
    if (found === null) return text.length;
    const [char] = found;
    if (char === ">" || char === "<") return found.index;
    const close = text.indexOf(char, found.index + 1);
    if (close === -1) return found.index;
    at = close + 1;
  }
}

function closeElement(open: XmlElement[], name: string): void {
  const index = open.findLastIndex((element) => element.name === name);
  if (index > 0) open.length = index;
}

function attributesOf(text: string): [string, string][] {
  return [...text.matchAll(attribute)].flatMap(([, name = "", double, single]): [string, string][] => {
    const value = double ?? single;
    return value === undefined ? [] : [[name, decodeEntities(value)]];
  });
}

function trimTexts(root: XmlElement): void {
  const pending = [root];
  for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
    element.text = element.text.trim();
    pending.push(...element.children);
  }
}

function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g, (written, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? written;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : written;
  });
}
