/**
 * Reads the body of an ES|QL request.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-query-api.html
 */
import { readJsonObject } from "../json/object.ts";
import { locateIn } from "../json/position.ts";
import { type ExactJson, type Json, type JsonObject, NumberText, readExactJson } from "../json/read.ts";
import { VendorError } from "../vendor/error.ts";
import { readDurationMs } from "../vendor/parameters.ts";
import { integerLiteral } from "./literals.ts";
import type { Param } from "./params.ts";
import type { Literal } from "./syntax.ts";

export interface EsqlBody {
  query: string;
  params: readonly Param[];
  /** A query of the Query DSL that filters the events. */
  filter: Json | undefined;
  columnar: boolean;
  profile: boolean;
  /** For an asynchronous request. */
  waitMs: number;
  keepAliveMs: number;
  keepOnCompletion: boolean;
}

const syncMembers = [
  "columnar",
  "filter",
  "locale",
  "params",
  "profile",
  "query",
  "tables",
  "version",
  "pragma",
  "accept_pragma_risks",
];
const asyncMembers = [...syncMembers, "keep_alive", "keep_on_completion", "wait_for_completion_timeout"];

/** @throws VendorError for an invalid body */
export function readSyncRequest(text: string): EsqlBody {
  return readRequest(text, "esql/query", syncMembers);
}

export function readAsyncRequest(text: string): EsqlBody {
  return readRequest(text, "esql/async_query", asyncMembers);
}

function readRequest(text: string, parser: string, members: readonly string[]): EsqlBody {
  if (text.trim() === "")
    throw new VendorError(400, { type: "parse_exception", reason: "request body is required" });
  const body = readJsonObject(text);
  const reader = new BodyReader(body, text, parser);
  reader.checkMembers(members);
  const query = reader.text("query");
  const problems = [
    ...(query === undefined || query === "" ? ["[query] is required"] : []),
    ...(body.tables === undefined ? [] : ["[tables] only allowed in snapshot builds"]),
    ...(body.pragma === undefined ? [] : ["[pragma] only allowed in snapshot builds"]),
  ];
  if (query === undefined || problems.length > 0) {
    const numbered = problems.map((problem, index) => `${index + 1}: ${problem};`).join("");
    throw new VendorError(400, {
      type: "action_request_validation_exception",
      reason: `Validation Failed: ${numbered}`,
    });
  }
  reader.text("locale");
  return {
    query,
    params: readParams(text),
    filter: body.filter ?? undefined,
    columnar: reader.flag("columnar"),
    profile: reader.flag("profile"),
    waitMs: readDurationMs(reader.text("wait_for_completion_timeout") ?? "1s", "wait_for_completion_timeout"),
    keepAliveMs: readDurationMs(reader.text("keep_alive") ?? "5d", "keep_alive"),
    keepOnCompletion: reader.flag("keep_on_completion"),
  };
}

class BodyReader {
  readonly #body: JsonObject;
  readonly #text: string;
  readonly #parser: string;

  constructor(body: JsonObject, text: string, parser: string) {
    this.#body = body;
    this.#text = text;
    this.#parser = parser;
  }

  checkMembers(known: readonly string[]): void {
    const unknown = Object.keys(this.#body).find((name) => !known.includes(name));
    if (unknown !== undefined) throw this.#error(unknown, "name", `unknown field [${unknown}]`);
  }

  text(name: string): string | undefined {
    const value = this.#body[name];
    if (value === undefined || typeof value === "string") return value;
    throw this.#error(name, "value", `${name} doesn't support values of type: ${kindOf(value)}`);
  }

  flag(name: string): boolean {
    const value = this.#body[name];
    if (value === undefined || value === false || value === "false") return false;
    if (value === true || value === "true") return true;
    throw this.#error(name, "value", `${name} doesn't support values of type: ${kindOf(value)}`);
  }

  #error(name: string, what: "name" | "value", message: string): VendorError {
    const position = locateIn(this.#text, [])([name], what);
    const where = position ? `[${position.line}:${position.col}] ` : "";
    return new VendorError(400, {
      type: "x_content_parse_exception",
      reason: `${where}[${this.#parser}] ${message}`,
    });
  }
}

function kindOf(value: Json): string {
  if (value === null) return "VALUE_NULL";
  if (Array.isArray(value)) return "START_ARRAY";
  if (typeof value === "object") return "START_OBJECT";
  if (typeof value === "boolean") return "VALUE_BOOLEAN";
  return typeof value === "string" ? "VALUE_STRING" : "VALUE_NUMBER";
}

/** Numbers keep their notation: `1.0` is a double. */
function readParams(text: string): Param[] {
  const body = readExactJson(text);
  const given = body instanceof Map ? body.get("params") : undefined;
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw paramError("an array is expected");
  const params = given.flatMap(readParam);
  const named = params.filter(({ name }) => name !== undefined).length;
  if (named > 0 && named < params.length) {
    throw paramError(
      `Params cannot contain both named and unnamed parameters; got ${params.length - named} unnamed and ${named} named`,
    );
  }
  return params;
}

function readParam(given: ExactJson): Param[] {
  if (!(given instanceof Map)) return [{ name: undefined, literal: literalOf(given) }];
  return [...given].map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw paramError(
        `[${name}] is not a valid parameter name, a valid parameter name starts with a letter or underscore, and contains letters, digits and underscores only`,
      );
    }
    return { name, literal: literalOf(value) };
  });
}

function literalOf(value: ExactJson): Literal {
  if (value === null) return { type: "null" };
  if (typeof value === "string") return { type: "keyword", value };
  if (typeof value === "boolean") return { type: "boolean", value };
  if (value instanceof NumberText) {
    return /^-?\d+$/.test(value.text)
      ? integerLiteral(BigInt(value.text))
      : { type: "double", value: Number(value.text) };
  }
  throw paramError("a value of a parameter is a string, a number, true, false or null");
}

function paramError(message: string): VendorError {
  return new VendorError(400, { type: "parsing_exception", reason: `Failed to parse params: ${message}` });
}
