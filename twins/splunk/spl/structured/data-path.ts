/** Paths into JSON and XML in `spath`'s notation: `a.b{}.c`, `a{0}`, `book{2}`, `book{@lang}`. */
import { type JsonNode, readJson } from "./json-text.ts";
import { readXml, type XmlElement } from "./xml-text.ts";

type Step =
  | { kind: "name"; name: string }
  | { kind: "every" }
  | { kind: "index"; index: number }
  | { kind: "attribute"; name: string };

/** Whether a path can have more than one value in a JSON text. */
export function isMultiPath(path: string): boolean {
  return path.includes("{}");
}

/** The values at a path, in the order of the text. Objects and lists keep their text. */
export function valuesAt(text: string, path: string): string[] {
  const steps = stepsOf(path);
  const json = readJson(text);
  return json === undefined ? xmlValues(readXml(text), steps) : jsonValues(json, steps);
}

/** All values of a text by their paths. @param limit characters to read */
export function valuesByPath(text: string, limit = Number.POSITIVE_INFINITY): Map<string, string[]> {
  const values = new Map<string, string[]>();
  const head = text.slice(0, limit);
  const json = readJson(head);
  if (json === undefined) for (const element of readXml(head)) addElement(values, element, element.name);
  else addNode(values, json, "");
  return values;
}

function stepsOf(path: string): Step[] {
  return path.split(".").flatMap((part): Step[] => {
    const end = bracesStart(part);
    const name = part.slice(0, end);
    const inBraces = [...part.slice(end).matchAll(/\{([^{}]*)\}/g)].map(([, inner = ""]): Step => {
      if (inner === "") return { kind: "every" };
      if (/^\d+$/.test(inner)) return { kind: "index", index: Number(inner) };
      return { kind: "attribute", name: inner.replace(/^@/, "") };
    });
    return name === "" ? inBraces : [{ kind: "name", name }, ...inBraces];
  });
}

/** Start of the trailing pairs of braces. */
function bracesStart(part: string): number {
  let end = part.length;
  while (part[end - 1] === "}") {
    const open = part.lastIndexOf("{", end - 1);
    if (open === -1 || part.indexOf("}", open) !== end - 1) break;
    end = open;
  }
  return end;
}

function jsonValues(root: JsonNode, steps: readonly Step[]): string[] {
  let nodes = [root];
  for (const step of steps) nodes = nodes.flatMap((node) => jsonStep(node, step));
  return nodes.flatMap((node) => (node.kind === "null" ? [] : [node.text]));
}

function jsonStep(node: JsonNode, step: Step): JsonNode[] {
  switch (step.kind) {
    case "name":
      if (node.kind !== "object") return [];
      return node.members.flatMap(([name, value]) => (name === step.name ? [value] : []));
    case "every":
      return node.kind === "list" ? node.items : [];
    case "index":
      return node.kind === "list" ? node.items.slice(step.index, step.index + 1) : [];
    case "attribute":
      return [];
  }
}

/** Positions of XML elements count from 1. */
function xmlValues(roots: readonly XmlElement[], steps: readonly Step[]): string[] {
  let groups: XmlElement[][] = [];
  for (const [position, step] of steps.entries()) {
    const elements = groups.flat();
    if (step.kind === "attribute") {
      return elements.flatMap(({ attributes }) =>
        attributes.flatMap(([name, value]) => (name === step.name ? [value] : [])),
      );
    }
    if (step.kind === "name") {
      const within = position === 0 ? [roots] : elements.map(({ children }) => children);
      groups = within.map((children) => children.filter(({ name }) => name === step.name));
    } else if (step.kind === "index") {
      groups = groups.map((group) => (step.index > 0 ? group.slice(step.index - 1, step.index) : []));
    }
  }
  return groups.flat().flatMap(({ text }) => (text === "" ? [] : [text]));
}

function addNode(values: Map<string, string[]>, root: JsonNode, rootPath: string): void {
  const pending: { node: JsonNode; path: string }[] = [{ node: root, path: rootPath }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, path } = next;
    if (node.kind === "value") add(values, path, node.text);
    // A stack: pushed in reverse to be visited in order.
    if (node.kind === "list") {
      for (const item of node.items.toReversed()) pending.push({ node: item, path: `${path}{}` });
    }
    if (node.kind === "object") {
      for (const [name, value] of node.members.toReversed()) {
        pending.push({ node: value, path: path === "" ? name : `${path}.${name}` });
      }
    }
  }
}

function addElement(values: Map<string, string[]>, root: XmlElement, rootPath: string): void {
  const pending = [{ element: root, path: rootPath }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { element, path } = next;
    for (const [name, value] of element.attributes) add(values, `${path}{@${name}}`, value);
    if (element.text !== "") add(values, path, element.text);
    for (const child of element.children.toReversed()) {
      pending.push({ element: child, path: `${path}.${child.name}` });
    }
  }
}

function add(values: Map<string, string[]>, path: string, value: string): void {
  const list = values.get(path);
  if (list === undefined) values.set(path, [value]);
  else list.push(value);
}
