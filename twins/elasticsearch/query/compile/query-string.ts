/** `query_string`: each clause of the text becomes a query on one field, or a `dis_max` over several. */
import type { VendorError } from "../../vendor/error.ts";
import { conversionError, shardError } from "../errors.ts";
import { QuerySyntaxError } from "../query-string/lexer.ts";
import { type Clause, type Leaf, parseQueryString } from "../query-string/parser.ts";
import type { Bound, QueryStringQuery } from "../syntax/query.ts";
import { analyzerOf } from "./analyzers.ts";
import { combine } from "./bool.ts";
import type { Compiler } from "./compiler.ts";
import { disMax } from "./dis-max.ts";
import { compileFieldExists } from "./exists.ts";
import { fieldNames, isField, weightedFields } from "./field-names.ts";
import { fuzzyWord } from "./fuzzy.ts";
import { orderByHash } from "./hash-order.ts";
import { type Matcher, not, nothing, TRUE, uniform } from "./matcher.ts";
import { requiredOptional } from "./minimum-should-match.ts";
import { multiField, tieBreakerOf } from "./multi-match.ts";
import { prefix, regexp, wildcard } from "./patterns.ts";
import { range } from "./range.ts";
import { rewriteOf } from "./rewrite.ts";
import { type Target, targetOf } from "./target.ts";
import { ignoreUnfit } from "./unfit.ts";

export function compileQueryStringQuery(compiler: Compiler, query: QueryStringQuery, boost: number): Matcher {
  if (query.text.trim() === "") return nothing;
  analyzerOf(query.options);
  rewriteOf(query.rewrite);
  rewriteOf(query.fuzzyRewrite);
  const reader = new QueryStringCompiler(compiler, query);
  return reader.group(parse(query, reader), boost, "outermost") ?? nothing;
}

/** Parses the text. On a syntax error, compiles the clauses before it: the vendor reports errors in text order. */
function parse({ text, options }: QueryStringQuery, reader: QueryStringCompiler): Clause[] {
  const read: Leaf[] = [];
  const onRead = (leaf: Leaf) => read.push(leaf);
  try {
    return parseQueryString(text, { defaultOperator: options.operator, onRead });
  } catch (error) {
    if (!(error instanceof QuerySyntaxError)) throw error;
    reader.group(
      read.map((expression) => ({ occur: "should", modified: false, expression })),
      1,
      "inner",
    );
    throw unparsable(text, error.message, error.type);
  }
}

function unparsable(text: string, reason: string, type = "parse_exception"): VendorError {
  return shardError(`Failed to parse query [${text}]`, {
    type: "parse_exception",
    reason: `Cannot parse '${text}': ${reason}`,
    caused_by: { type, reason },
  });
}

/** `minimum_should_match` applies to the outermost clauses. */
type Level = "outermost" | "inner";

interface Part {
  readonly occur: Clause["occur"];
  readonly matcher: Matcher;
}

class QueryStringCompiler {
  readonly #compiler: Compiler;
  readonly #query: QueryStringQuery;
  readonly #lenient: boolean;

  constructor(compiler: Compiler, query: QueryStringQuery) {
    this.#compiler = compiler;
    this.#query = query;
    const everywhere = query.fields.length === 0 || query.fields.some(({ pattern }) => pattern === "*");
    this.#lenient = query.lenient ?? everywhere;
  }

  /** @returns undefined when no clause has words */
  group(clauses: readonly Clause[], boost: number, level: Level): Matcher | undefined {
    const [first] = clauses;
    // A single clause without a sign is the whole query: `minimum_should_match` then counts its words.
    const partLevel = clauses.length === 1 && first?.modified === false ? level : "inner";
    const parts = clauses.flatMap((clause) =>
      clause.occur === "must_not"
        ? this.#compiler.withoutMarks(() => this.#parts(clause, boost, partLevel))
        : this.#parts(clause, boost, partLevel),
    );
    if (parts.length === 0) return undefined;
    this.#compiler.count(1);
    const [only] = parts;
    if (only && parts.length === 1 && clauses[0]?.modified === false) return only.matcher;
    const of = (occur: Clause["occur"]) =>
      parts.filter((part) => part.occur === occur).map(({ matcher }) => matcher);
    const [must, should, mustNot] = [of("must"), of("should"), of("must_not")];
    return combine({
      must,
      should,
      filter: mustNot.map(({ predicate }) => not(predicate)),
      minimum: this.#minimum(must.length, should.length, level),
    });
  }

  #minimum(required: number, optional: number, level: Level): number {
    const written = level === "outermost" ? this.#query.options.minimumShouldMatch : undefined;
    return requiredOptional(written, { optional, required });
  }

  /** @param level `outermost`: `minimum_should_match` applies inside the clause */
  #parts({ occur, expression }: Clause, outerBoost: number, level: Level): Part[] {
    const boost = Math.fround(outerBoost * expression.boost);
    if (expression.kind === "group") {
      const matcher = this.group(expression.clauses, boost, level);
      return matcher ? [{ occur, matcher }] : [];
    }
    if (expression.kind === "text" && expression.several) {
      const fields = this.#fields(expression.field);
      const words = fields.size === 1 ? this.#separateWords(fields, expression.text, boost) : undefined;
      if (words) return words.map((matcher) => ({ occur, matcher }));
    }
    const matcher = this.#leaf(expression, boost, level);
    return matcher ? [{ occur, matcher }] : [];
  }

  /**
   * Makes each word a clause of its own: for one analysed field, and in `specification` for any field. A field that is not analysed
   * gets the words as one text in `vendor`.
   */
  #separateWords(fields: ReadonlyMap<string, number>, text: string, boost: number): Matcher[] | undefined {
    const { context } = this.#compiler;
    const [name = ""] = fields.keys();
    if (context.fidelity === "vendor" && targetOf(context, name, "words").kind !== "words") return undefined;
    return text
      .split(/\s+/u)
      .map((word) => this.#text(fields, word, boost, "inner"))
      .filter((matcher) => matcher !== undefined);
  }

  #leaf(expression: Leaf, boost: number, level: Level): Matcher | undefined {
    const { field } = expression;
    if (field === "_exists_" && (expression.kind === "text" || expression.kind === "phrase")) {
      return compileFieldExists(this.#compiler, expression.text, boost);
    }
    switch (expression.kind) {
      case "text": {
        const asked = field ?? this.#query.defaultField;
        const bounded = asked === undefined ? undefined : oneSidedRange(expression.text);
        if (bounded) return this.#range(field, bounded, boost);
        return this.#text(this.#fields(field), expression.text, boost, level);
      }
      case "phrase":
        return multiField(this.#compiler, {
          type: "phrase",
          fields: this.#fields(field, { suffix: this.#query.quoteFieldSuffix }),
          text: expression.text,
          tieBreaker: this.#query.tieBreaker,
          options: {
            ...this.#query.options,
            lenient: this.#lenient,
            slop: expression.slop ?? this.#query.phraseSlop,
          },
          boost,
        });
      case "wildcard":
        return this.#wildcard(field, expression.pattern, boost);
      case "prefix": {
        if (!this.#query.allowLeadingWildcard && expression.prefix === "") throw this.#leadingWildcard();
        return this.#eachField(field, boost, (target, weight) =>
          prefix(
            this.#compiler,
            target,
            {
              prefix: lowerCaseWords(target, expression.prefix),
              caseInsensitive: false,
              rewrite: this.#query.rewrite,
            },
            weight,
          ),
        );
      }
      case "regexp":
        return this.#eachField(field, boost, (target, weight) =>
          regexp(
            this.#compiler,
            target,
            {
              pattern: lowerCaseWords(target, expression.pattern),
              flags: "ALL",
              caseInsensitive: false,
              rewrite: this.#query.rewrite,
            },
            weight,
          ),
        );
      case "fuzzy": {
        const fuzzy = { ...this.#query.fuzzy, fuzziness: this.#fuzziness(expression.fuzziness) };
        return this.#eachField(field, boost, (target, weight) =>
          fuzzyWord(this.#compiler, target, lowerCaseWords(target, expression.text), fuzzy, weight),
        );
      }
      case "range": {
        const { lower, upper, includeLower, includeUpper } = expression.range;
        return this.#range(
          field,
          {
            lower: boundOf(lower, { inclusive: includeLower }),
            upper: boundOf(upper, { inclusive: includeUpper }),
          },
          boost,
        );
      }
    }
  }

  #text(fields: ReadonlyMap<string, number>, text: string, boost: number, level: Level): Matcher | undefined {
    const written = this.#query.options.minimumShouldMatch;
    // Several fields become a `dis_max`, which has no `minimum_should_match`.
    const minimumShouldMatch = level === "outermost" && fields.size === 1 ? written : undefined;
    return multiField(this.#compiler, {
      type: this.#query.type,
      fields,
      text,
      tieBreaker: this.#query.tieBreaker,
      options: { ...this.#query.options, minimumShouldMatch, lenient: this.#lenient },
      boost,
    });
  }

  #wildcard(field: string | undefined, pattern: string, boost: number): Matcher {
    if (pattern === "*") {
      const asked = field ?? this.#onlyField();
      return asked === undefined || asked === "*"
        ? uniform(TRUE, boost, "*:*")
        : compileFieldExists(this.#compiler, asked, boost);
    }
    if (!this.#query.allowLeadingWildcard && /^[*?]/.test(pattern)) throw this.#leadingWildcard();
    return this.#eachField(field, boost, (target, weight) =>
      wildcard(
        this.#compiler,
        target,
        { pattern: lowerCaseWords(target, pattern), caseInsensitive: false, rewrite: this.#query.rewrite },
        weight,
      ),
    );
  }

  #onlyField(): string | undefined {
    const [only, second] = this.#query.fields;
    return second === undefined ? only?.pattern : undefined;
  }

  #range(
    field: string | undefined,
    { lower, upper }: { lower: Bound | undefined; upper: Bound | undefined },
    boost: number,
  ): Matcher {
    return this.#eachField(field, boost, (target, weight) =>
      range(
        this.#compiler,
        target,
        {
          kind: "range",
          field: target.name,
          lower: lower && { ...lower, value: lowerCaseWords(target, String(lower.value)) },
          upper: upper && { ...upper, value: lowerCaseWords(target, String(upper.value)) },
          format: undefined,
          timeZone: this.#query.timeZone,
          boost: 1,
          name: undefined,
        },
        weight,
      ),
    );
  }

  #eachField(
    field: string | undefined,
    boost: number,
    compile: (target: Target, boost: number) => Matcher,
  ): Matcher {
    const { context } = this.#compiler;
    const matchers = [...this.#fields(field)].map(([name, weight]) => {
      const one = () => compile(targetOf(context, name, "words"), Math.fround(boost * weight));
      return this.#lenient ? ignoreUnfit(one) : one();
    });
    return disMax(matchers, tieBreakerOf(this.#query.type, this.#query.tieBreaker));
  }

  /** The fields that a clause searches, with their boosts. @param suffix prefers the fields whose name has it */
  #fields(field: string | undefined, { suffix }: { suffix?: string | undefined } = {}): Map<string, number> {
    const { context } = this.#compiler;
    const { fields } = this.#query;
    const asked =
      field === undefined
        ? weightedFields(context, fields.length === 0 ? [{ pattern: "*", boost: 1 }] : fields)
        : new Map(fieldNames(context, field).map((name) => [name, 1]));
    if (suffix === undefined) return orderByHash(asked);
    return orderByHash(
      [...asked].map(([name, weight]) => {
        const suffixed = `${name}${suffix}`;
        return [isField(context, suffixed) ? suffixed : name, weight];
      }),
    );
  }

  #fuzziness(written: string | undefined): string {
    if (written === undefined) return this.#query.fuzzy.fuzziness;
    if (/^[012]$/.test(written) || /^AUTO(:\d+,\d+)?$/i.test(written)) return written.toUpperCase();
    const number = Number(written);
    if ([0, 1, 2].includes(number)) return String(number);
    const type = "illegal_argument_exception";
    if (Number.isInteger(number) && !written.includes(".")) {
      throw conversionError(`Valid edit distances are [0, 1, 2] but was [${written}]`, type);
    }
    if (Number.isFinite(number)) {
      throw conversionError(`fuzziness needs to be one of 0.0, 1.0 or 2.0 but was ${number}`, type);
    }
    const reason = `fuzziness cannot be [${written}].`;
    const unread = {
      type: "number_format_exception",
      reason: `For input string: "${written.toUpperCase()}"`,
    };
    throw conversionError(reason, type, unread);
  }

  #leadingWildcard(): VendorError {
    return unparsable(this.#query.text, "'*' or '?' not allowed as first character in WildcardQuery");
  }
}

/** Reads `>=10` or `<5`. */
function oneSidedRange(text: string): { lower: Bound | undefined; upper: Bound | undefined } | undefined {
  const found = /^([<>])(=?)([\s\S]+)$/.exec(text);
  if (!found) return undefined;
  const bound = { value: found[3] ?? "", inclusive: found[2] === "=" };
  return found[1] === ">" ? { lower: bound, upper: undefined } : { lower: undefined, upper: bound };
}

function boundOf(text: string, { inclusive }: { inclusive: boolean }): Bound | undefined {
  return text === "*" ? undefined : { value: text, inclusive };
}

/** Lowercases patterns and bounds for analysed fields, whose words are lower case. */
function lowerCaseWords(target: Target, text: string): string {
  return target.kind === "words" ? text.toLowerCase() : text;
}
