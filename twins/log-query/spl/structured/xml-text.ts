/** XML as far as it is well formed: elements, their attributes and their text. */
import { lookupTable } from "../../../sandbox/lookup-table.ts";

export interface XmlElement {
  name: string;
  attributes: [name: string, value: string][];
  children: XmlElement[];
  /** What is between its tags and in no child, without blanks at its ends. */
  text: string;
}

const maxDepth = 200;
const markup =
  /<!--.*?(?:-->|$)|<\?.*?(?:\?>|$)|<!\[CDATA\[(.*?)(?:\]\]>|$)|<![^>]*>|<(\/?)([^\s/<>]+)((?:"[^"]*"|'[^']*'|[^"'<>])*?)(\/?)>/gs;
const attribute = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const entities = lookupTable<string>({ lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" });

/** The outermost elements; none when the text is no XML. */
export function readXml(text: string): XmlElement[] {
  if (!/^\s*</.test(text)) return [];
  const root: XmlElement = { name: "", attributes: [], children: [], text: "" };
  const open = [root];
  let from = 0;
  for (const match of text.matchAll(markup)) {
    const parent = open.at(-1) ?? root;
    parent.text += decoded(text.slice(from, match.index));
    from = match.index + match[0].length;
    const [, data, close, name, attributes = "", empty] = match;
    if (data !== undefined) parent.text += data;
    if (name === undefined) continue;
    if (close === "/") {
      closeElement(open, name);
      continue;
    }
    const element: XmlElement = { name, attributes: attributesOf(attributes), children: [], text: "" };
    parent.children.push(element);
    if (empty !== "/" && open.length < maxDepth) open.push(element);
  }
  trimTexts(root);
  return root.children;
}

function closeElement(open: XmlElement[], name: string): void {
  const index = open.findLastIndex((element) => element.name === name);
  if (index > 0) open.length = index;
}

function attributesOf(text: string): [string, string][] {
  return [...text.matchAll(attribute)].map(([, name = "", double, single = ""]) => [
    name,
    decoded(double ?? single),
  ]);
}

function trimTexts(root: XmlElement): void {
  const pending = [root];
  for (let element = pending.pop(); element !== undefined; element = pending.pop()) {
    element.text = element.text.trim();
    pending.push(...element.children);
  }
}

function decoded(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));/g, (written, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? written;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : written;
  });
}
