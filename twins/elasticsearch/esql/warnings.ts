/** The vendor's `Warning` headers. Source: https://www.rfc-editor.org/rfc/rfc7234#section-5.5 */
import { BUILD_HASH, VERSION } from "../vendor/node.ts";

/** All warnings in one header, as HTTP joins several. */
export function warningHeaders(warnings: readonly string[]): Record<string, string> {
  if (warnings.length === 0) return {};
  return { warning: warnings.map((text) => `299 ${agent} "${quoted(text)}"`).join(", ") };
}

const agent = `Elasticsearch-${VERSION}-${BUILD_HASH}`;
/** Longer warnings are cut: a header has bounds. */
const MAX_LENGTH = 1000;

/** Only what a quoted string of a header may hold; the rest as percent escapes. */
function quoted(text: string): string {
  // Through bytes, so that half a character becomes a replacement character.
  return Buffer.from(text.slice(0, MAX_LENGTH))
    .toString("utf8")
    .replace(/[^\t\x20-\x24\x26-\x7e\x80-\xff]/gu, (character) => encodeURIComponent(character))
    .replace(/[\\"]/g, "\\$&");
}
