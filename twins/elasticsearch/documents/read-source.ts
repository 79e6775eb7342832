/** Checks documents and ids before they are written. */

import { readJson } from "../json/read.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { unparsable } from "./errors.ts";

/** Limit of nesting in a document. */
const MAX_DEPTH = 100;
const MAX_ID_BYTES = 512;

/** Returns the text of a document unchanged. @throws VendorError unless it is a JSON object */
export function checkSource(text: string): string {
  if (depthOf(text) > MAX_DEPTH) {
    throw illegalArgument(`Limit of mapping depth [${MAX_DEPTH}] has been exceeded`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw locateSyntaxError(text);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return text;
  throw unparsable("Malformed content, must start with an object");
}

/** The error for invalid JSON, with its position. */
function locateSyntaxError(text: string): VendorError {
  try {
    readJson(text);
    return unparsable("malformed content");
  } catch (error) {
    if (!(error instanceof VendorError)) throw error;
    const [, at = "1:1", reason = error.message] = /^\[(\d+:\d+)\] (.*)$/s.exec(error.message) ?? [];
    return unparsable(reason, at, error.cause.caused_by);
  }
}

/** @throws VendorError for an id that is empty or too long */
export function checkId(id: string): string {
  if (id === "") throw illegalArgument("if _id is specified it must not be empty");
  const bytes = Buffer.byteLength(id);
  if (bytes <= MAX_ID_BYTES) return id;
  throw illegalArgument(
    `id [${id}] is too long, must be no longer than ${MAX_ID_BYTES} bytes but was: ${bytes}`,
  );
}

/** The depth of nested brackets outside strings. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === 0x5c) at++;
      else if (code === 0x22) quoted = false;
    } else if (code === 0x22) quoted = true;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}
