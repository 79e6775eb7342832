/** Writes XML as text. Names are written as they are; everything else is escaped. */
import { lookupTable } from "@offhook/platform/base/lookup-table";

/** XML that is ready to be put into other XML. */
export type Xml = { readonly xml: string };

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/** Characters that XML 1.0 cannot say at all; lone surrogates among them. */
const UNSPEAKABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

const entities = lookupTable<string>({
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
});

/** Text between tags. */
export function xmlText(text: string): string {
  return text.replace(UNSPEAKABLE, "\uFFFD").replace(/[&<>]/g, (char) => entities[char] ?? char);
}

/** Text of an attribute, in either kind of quotes. */
export function xmlAttribute(text: string): string {
  return text
    .replace(UNSPEAKABLE, "\uFFFD")
    .replace(/[&<>"']/g, (char) => entities[char] ?? char)
    .replace(/[\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`);
}
