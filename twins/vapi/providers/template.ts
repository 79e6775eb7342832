/** Templates with `{{name.path}}` places, for the scripted brain and for an assistant's variables. */

export type TemplatePart = { kind: "text"; text: string } | { kind: "place"; path: string[]; source: string };

/** A syntax error in a template; the message says where, and what would be right. */
export class TemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TemplateError";
  }
}

/** Splits a template into text and places. @throws TemplateError for a place that is not closed or not a dotted name */
export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  while (at < template.length) {
    const open = template.indexOf("{{", at);
    if (open < 0) break;
    const close = template.indexOf("}}", open + 2);
    if (close < 0) throw new TemplateError(`the "{{" at character ${open + 1} is not closed by "}}"`);
    if (open > at) parts.push({ kind: "text", text: template.slice(at, open) });
    const source = template.slice(open + 2, close).trim();
    parts.push({ kind: "place", path: parsePath(source), source });
    at = close + 2;
  }
  if (at < template.length) parts.push({ kind: "text", text: template.slice(at) });
  return parts;
}

function parsePath(source: string): string[] {
  const path = source.split(".");
  if (path.some((name) => name === "" || name !== name.trim() || name.includes("{"))) {
    throw new TemplateError(`"{{${source}}}" is not a dotted name such as {{tool.member}}`);
  }
  return path;
}

/** The value at a path of members and list positions, or `undefined`. */
export function lookUp(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const name of path) {
    if (here === null || typeof here !== "object" || !Object.hasOwn(here, name)) return undefined;
    here = Reflect.get(here, name);
  }
  return here;
}

/** A value as spoken text: strings as they are, everything else as JSON. */
export function toSpeech(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
