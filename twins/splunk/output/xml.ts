/** Escapes text for XML. Names are written unescaped. */
import { lookupTable } from "@offhook/platform/base/lookup-table";

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/** Characters that XML 1.0 cannot contain, lone surrogates among them. */
const INVALID_XML =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

const entities = lookupTable<string>({
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
});

/** Escapes text between tags. */
export function xmlText(text: string): string {
  return text.replace(INVALID_XML, "\uFFFD").replace(/[&<>]/g, (char) => entities[char] ?? char);
}

/** Escapes an attribute's value, for either kind of quotes. */
export function xmlAttribute(text: string): string {
  return text
    .replace(INVALID_XML, "\uFFFD")
    .replace(/[&<>"']/g, (char) => entities[char] ?? char)
    .replace(/[\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`);
}
