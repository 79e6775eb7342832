/** The vendor's `Warning` headers. Source: https://www.rfc-editor.org/rfc/rfc7234#section-5.5 */
import { BUILD_HASH, VERSION } from "../vendor/node.ts";

/** Joins all warnings in one header, as HTTP allows. */
export function warningHeaders(warnings: readonly string[]): Record<string, string> {
  if (warnings.length === 0) return {};
  return { warning: warnings.map((text) => `299 ${agent} "${quoteHeader(text)}"`).join(", ") };
}

const agent = `Elasticsearch-${VERSION}-${BUILD_HASH}`;
/** Truncates warnings: headers have a bounded size. */
const MAX_LENGTH = 1000;

/** Percent-escapes what a quoted header string may not hold. */
function quoteHeader(text: string): string {
  // The detour through bytes turns a surrogate half into a replacement character.
  return Buffer.from(text.slice(0, MAX_LENGTH))
    .toString("utf8")
    .replace(/[^\t\x20-\x24\x26-\x7e\x80-\xff]/gu, (character) => encodeURIComponent(character))
    .replace(/[\\"]/g, "\\$&");
}
