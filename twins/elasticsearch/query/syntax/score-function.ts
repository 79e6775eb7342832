/** The functions of `function_score`. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-function-score-query.html */
import { ContentParser } from "../../json/content-parser.ts";
import { locateIn } from "../../json/position.ts";
import { compactJson } from "../../json/write.ts";
import { illegalArgument, VendorError } from "../../vendor/error.ts";
import { conversionError } from "../errors.ts";
import { double, eachMember, float, OptionTable, oneOf, scalar, text } from "./options.ts";
import type { Parser } from "./parser.ts";
import type { Scalar, ScoreFunction } from "./query.ts";

/** Reads the function whose object begins at the current token. */
export function readScoreFunction(parser: Parser): ScoreFunction {
  const { name } = parser.content;
  switch (name) {
    case "field_value_factor":
      return readFieldValue(parser);
    case "random_score":
      return readRandom(parser);
    case "gauss":
    case "exp":
    case "linear":
      return readDecay(parser, name);
    case "script_score":
      throw illegalArgument("[script_score] scripts are not run: use field_value_factor or a decay function");
    default:
      throw parser.unknown(name, "function_score", names);
  }
}

const names = ["exp", "field_value_factor", "gauss", "linear", "random_score", "script_score", "weight"];
const modifiers = ["none", "log", "log1p", "log2p", "ln", "ln1p", "ln2p", "square", "sqrt", "reciprocal"];
const modifier = oneOf(modifiers, (written) =>
  illegalArgument(
    `No enum constant org.elasticsearch.common.lucene.search.function.FieldValueFactorFunction.Modifier.${written.toUpperCase()}`,
  ),
);

function readFieldValue(parser: Parser): ScoreFunction {
  const { content } = parser;
  const table = new OptionTable(parser, { field: text, factor: float, modifier, missing: double });
  eachMember(content, () => {
    if (content.isValue) {
      if (!table.take()) throw content.error(`field_value_factor query does not support [${content.name}]`);
    } else if (content.token?.startsWith("START_") && content.name === "factor") {
      throw content.error("[field_value_factor] field 'factor' does not support lists or objects");
    }
  });
  const { field, factor = 1, modifier: written = "none", missing } = table.options;
  if (field === undefined) throw content.error("[field_value_factor] required field 'field' missing");
  return { kind: "field_value", field, factor, modifier: written, missing };
}

function readRandom(parser: Parser): ScoreFunction {
  const { content } = parser;
  const table = new OptionTable(parser, { seed: scalar, field: text });
  eachMember(content, () => {
    if (!content.isValue) return;
    if (content.name === "seed") checkSeed(content);
    if (!table.take()) throw content.error(`random_score query does not support [${content.name}]`);
  });
  const { seed, field } = table.options;
  return { kind: "random", seed: typeof seed === "number" ? seed : seed?.toString(), field };
}

function checkSeed(content: ContentParser): void {
  const { json, token } = content;
  if (typeof json === "string" || typeof json === "bigint" || Number.isInteger(json)) return;
  const kinds = token === "VALUE_NUMBER" ? "int, long" : "int/long";
  throw content.error(`random_score seed must be an ${kinds} or string, not '${token}'`);
}

const multiValueMode = oneOf(["min", "max", "avg", "sum"], (written) =>
  illegalArgument(`Illegal sort mode: ${written}`),
);

function readDecay(parser: Parser, shape: "gauss" | "exp" | "linear"): ScoreFunction {
  const { content } = parser;
  const table = new OptionTable(parser, { multi_value_mode: multiValueMode });
  const malformed = () => content.error("malformed score function score parameters.");
  let about: { field: string; parameters: unknown } | undefined;
  eachMember(content, () => {
    if (content.token === "START_OBJECT") {
      about = { field: content.name, parameters: content.json };
      content.skipChildren();
    } else if (!table.take()) throw malformed();
  });
  if (!about) throw malformed();
  const { origin, scale, offset, decay = 0.5 } = readParameters(about.parameters);
  // The origin defaults to now for dates, and is required for numbers.
  if (scale === undefined) throw parseFailure("both [scale] and [origin] must be set for numeric fields.");
  if (!(decay > 0 && decay < 1)) {
    throw conversionError(
      "function_score : decay must be in the range [0..1].",
      "illegal_argument_exception",
    );
  }
  return {
    kind: "decay",
    shape,
    field: about.field,
    origin,
    scale,
    offset,
    decay,
    multiValueMode: table.options.multi_value_mode ?? "min",
  };
}

interface DecayParameters {
  origin: Scalar | undefined;
  scale: Scalar | undefined;
  offset: Scalar | undefined;
  decay: number | undefined;
}

/** Reads the parameters as a shard does, from a copy: positions in errors count from its beginning. */
function readParameters(parameters: unknown): DecayParameters {
  const content = new ContentParser(parameters, locateIn(compactJson(parameters), []));
  content.next();
  const number = () => (content.isValue ? content.scalar() : content.double());
  const read: DecayParameters = { origin: undefined, scale: undefined, offset: undefined, decay: undefined };
  try {
    eachMember(content, () => {
      const { name } = content;
      if (name === "decay") read.decay = content.double();
      else if (name === "origin" || name === "scale" || name === "offset") read[name] = number();
      else throw parseFailure(`parameter [${name}] not supported!`);
    });
  } catch (error) {
    if (!(error instanceof VendorError) || error.cause.type === "query_shard_exception") throw error;
    throw conversionError(error.message, error.cause.type, error.cause.caused_by);
  }
  return read;
}

function parseFailure(reason: string): VendorError {
  return conversionError(reason, "parse_exception");
}
