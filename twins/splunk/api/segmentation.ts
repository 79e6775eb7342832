/** Marks the segments of an event's text: `segmentation`. */
import type { RawMarkup } from "../output/write-xml.ts";
import { xmlText } from "../output/xml.ts";
import { invalidArgument } from "./arguments.ts";

const kinds = ["none", "raw", "inner", "outer", "full"];
/** Characters between major segments. */
const MAJOR = /[\s[\]<>(){}|!;,'"*\n\r\t&?+]+/;
/** Characters between minor segments within a major one. */
const MINOR = /[/:=@.\-$#%\\_]/;

/** @throws RestError 400 */
export function markupOf(segmentation: string): RawMarkup {
  if (!kinds.includes(segmentation)) {
    throw invalidArgument("segmentation", segmentation);
  }
  if (segmentation === "none" || segmentation === "raw") return xmlText;
  const minor = (text: string) =>
    split(text, MINOR).map(([part, isSegment]) => (isSegment ? mark(xmlText(part)) : xmlText(part)));
  return (raw) =>
    split(raw, MAJOR)
      .map(([part, isSegment]) => {
        if (!isSegment) return xmlText(part);
        if (segmentation === "outer") return mark(xmlText(part));
        const inner = minor(part).join("");
        return segmentation === "full" && MINOR.test(part) ? mark(inner) : inner;
      })
      .join("");
}

function mark(xml: string): string {
  return `<sg>${xml}</sg>`;
}

/** Splits a text into segments and the separators between them. */
function split(text: string, breaker: RegExp): [part: string, isSegment: boolean][] {
  const parts: [string, boolean][] = [];
  let at = 0;
  for (const match of text.matchAll(new RegExp(breaker, "g"))) {
    if (match.index > at) parts.push([text.slice(at, match.index), true]);
    parts.push([match[0], false]);
    at = match.index + match[0].length;
  }
  if (at < text.length) parts.push([text.slice(at), true]);
  return parts;
}
