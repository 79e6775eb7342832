/** JSON objects, the usual bodies of requests. */
import { VendorError } from "../vendor/error.ts";
import { type Json, type JsonObject, readJson } from "./read.ts";
import { tokenOf } from "./token.ts";

export function isObject(json: unknown): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** @throws VendorError unless the text is a JSON object */
export function readJsonObject(text: string): JsonObject {
  const json: Json = readJson(text);
  if (isObject(json)) return json;
  throw new VendorError(400, {
    type: "parsing_exception",
    reason: `Expected [START_OBJECT] but found [${tokenOf(json)}]`,
    line: 1,
    col: 1,
  });
}
