/** The Query DSL as a tree, checked, with defaults filled in. */

/** A value of the request. `bigint` for an integer beyond 2^53. */
export type Scalar = string | number | bigint | boolean;

interface Clause {
  readonly boost: number;
  /** `_name` */
  readonly name: string | undefined;
}

export interface MatchAllQuery extends Clause {
  readonly kind: "match_all";
}

export interface MatchNoneQuery extends Clause {
  readonly kind: "match_none";
}

export interface BoolQuery extends Clause {
  readonly kind: "bool";
  readonly must: readonly Query[];
  readonly filter: readonly Query[];
  readonly should: readonly Query[];
  readonly mustNot: readonly Query[];
  readonly minimumShouldMatch: string | undefined;
  /** How many of `should` were dropped: they count towards the minimum. */
  readonly droppedShould: number;
  /** How many of `must` and `filter` were dropped: with them, no optional clause has to match. */
  readonly droppedRequired: number;
}

export interface TermQuery extends Clause {
  readonly kind: "term";
  readonly field: string;
  readonly value: Scalar;
  readonly caseInsensitive: boolean;
}

export interface TermsQuery extends Clause {
  readonly kind: "terms";
  readonly field: string;
  readonly values: readonly Scalar[];
}

export interface Bound {
  readonly value: Scalar;
  readonly inclusive: boolean;
}

export interface RangeQuery extends Clause {
  readonly kind: "range";
  readonly field: string;
  readonly lower: Bound | undefined;
  readonly upper: Bound | undefined;
  readonly format: string | undefined;
  readonly timeZone: string | undefined;
}

export interface ExistsQuery extends Clause {
  readonly kind: "exists";
  readonly field: string;
}

export interface WildcardQuery extends Clause {
  readonly kind: "wildcard";
  readonly field: string;
  readonly pattern: string;
  readonly caseInsensitive: boolean;
  readonly rewrite: string | undefined;
}

export interface PrefixQuery extends Clause {
  readonly kind: "prefix";
  readonly field: string;
  readonly prefix: string;
  readonly caseInsensitive: boolean;
  readonly rewrite: string | undefined;
}

export interface RegexpQuery extends Clause {
  readonly kind: "regexp";
  readonly field: string;
  readonly pattern: string;
  readonly caseInsensitive: boolean;
  readonly rewrite: string | undefined;
  /** `ALL`, `INTERVAL|COMPLEMENT`, … */
  readonly flags: string;
}

/** The options of a fuzzy word. */
export interface Fuzzy {
  /** `0`, `1`, `2`, `AUTO`, `AUTO:3,6` */
  readonly fuzziness: string;
  readonly prefixLength: number;
  readonly maxExpansions: number;
  readonly transpositions: boolean;
  /** The scoring method, as written. */
  readonly rewrite: string | undefined;
}

export interface FuzzyQuery extends Clause {
  readonly kind: "fuzzy";
  readonly field: string;
  readonly value: Scalar;
  readonly fuzzy: Fuzzy;
}

export type Operator = "or" | "and";
export type ZeroTerms = "none" | "all";

/** The options of a text search in one field. */
export interface MatchOptions {
  /** The clause, as errors name it. */
  readonly clause: string;
  readonly operator: Operator;
  readonly minimumShouldMatch: string | undefined;
  readonly fuzzy: Fuzzy | undefined;
  readonly zeroTerms: ZeroTerms;
  readonly lenient: boolean;
  readonly analyzer: string | undefined;
  /** For a phrase. */
  readonly slop: number;
  /** For a last word that is a prefix. */
  readonly maxExpansions: number;
}

/** `boolean`: words in any order; `phrase`: words in order; `…_prefix`: the last word is a prefix. */
export type MatchType = "boolean" | "phrase" | "phrase_prefix" | "bool_prefix";

export interface MatchQuery extends Clause {
  readonly kind: "match";
  readonly type: MatchType;
  readonly field: string;
  readonly text: Scalar;
  readonly options: MatchOptions;
}

export type MultiMatchType =
  | "best_fields"
  | "most_fields"
  | "cross_fields"
  | "phrase"
  | "phrase_prefix"
  | "bool_prefix";

export interface WeightedField {
  /** May hold `*`. */
  readonly pattern: string;
  readonly boost: number;
}

export interface MultiMatchQuery extends Clause {
  readonly kind: "multi_match";
  readonly type: MultiMatchType;
  /** Empty: every field. */
  readonly fields: readonly WeightedField[];
  readonly text: Scalar;
  readonly tieBreaker: number | undefined;
  readonly options: MatchOptions;
}

export interface QueryStringQuery extends Clause {
  readonly kind: "query_string";
  readonly text: string;
  readonly fields: readonly WeightedField[];
  /** The field of texts without one, if a single name or pattern gives it and not a list. */
  readonly defaultField: string | undefined;
  readonly type: MultiMatchType;
  readonly tieBreaker: number | undefined;
  readonly options: MatchOptions;
  readonly fuzzy: Fuzzy;
  /** For patterns. */
  readonly rewrite: string | undefined;
  /** Checked only: the vendor does not use it. */
  readonly fuzzyRewrite: string | undefined;
  readonly allowLeadingWildcard: boolean;
  /** As given: absent means true for patterns of fields, false for named ones. */
  readonly lenient: boolean | undefined;
  readonly phraseSlop: number;
  readonly quoteFieldSuffix: string | undefined;
  readonly timeZone: string | undefined;
}

export interface SimpleQueryStringQuery extends Clause {
  readonly kind: "simple_query_string";
  readonly text: string;
  readonly fields: readonly WeightedField[];
  readonly options: MatchOptions;
  readonly fuzzy: Fuzzy;
  readonly lenient: boolean | undefined;
  /** The enabled operators: `AND`, `OR`, `NOT`, `PREFIX`, `PHRASE`, `PRECEDENCE`, `ESCAPE`, `WHITESPACE`, `FUZZY`, `NEAR`, `SLOP`. */
  readonly flags: ReadonlySet<string>;
  readonly quoteFieldSuffix: string | undefined;
  readonly analyzeWildcard: boolean;
}

export interface IdsQuery extends Clause {
  readonly kind: "ids";
  readonly values: readonly string[];
}

export interface TermsSetQuery extends Clause {
  readonly kind: "terms_set";
  readonly field: string;
  readonly terms: readonly Scalar[];
  readonly minimumField: string;
}

export interface ConstantScoreQuery extends Clause {
  readonly kind: "constant_score";
  readonly filter: Query;
}

export interface DisMaxQuery extends Clause {
  readonly kind: "dis_max";
  readonly queries: readonly Query[];
  readonly tieBreaker: number;
}

export interface BoostingQuery extends Clause {
  readonly kind: "boosting";
  readonly positive: Query;
  readonly negative: Query;
  readonly negativeBoost: number;
}

export interface NestedQuery extends Clause {
  readonly kind: "nested";
  readonly path: string;
  readonly query: Query;
  readonly scoreMode: "avg" | "max" | "min" | "sum" | "none";
  readonly ignoreUnmapped: boolean;
}

export type ScoreFunction =
  | { readonly kind: "weight" }
  | {
      readonly kind: "random";
      readonly seed: number | string | undefined;
      readonly field: string | undefined;
    }
  | {
      readonly kind: "field_value";
      readonly field: string;
      readonly factor: number;
      readonly modifier: string;
      readonly missing: number | undefined;
    }
  | {
      readonly kind: "decay";
      readonly shape: "gauss" | "exp" | "linear";
      readonly field: string;
      readonly origin: Scalar | undefined;
      readonly scale: Scalar;
      readonly offset: Scalar | undefined;
      readonly decay: number;
      readonly multiValueMode: "min" | "max" | "avg" | "sum";
    };

export interface WeightedFunction {
  readonly function: ScoreFunction;
  readonly filter: Query;
  readonly weight: number | undefined;
}

export interface FunctionScoreQuery extends Clause {
  readonly kind: "function_score";
  readonly query: Query;
  readonly functions: readonly WeightedFunction[];
  readonly scoreMode: "multiply" | "sum" | "avg" | "first" | "max" | "min";
  readonly boostMode: "multiply" | "replace" | "sum" | "avg" | "max" | "min";
  readonly maxBoost: number | undefined;
  readonly minScore: number | undefined;
}

export type Query =
  | MatchAllQuery
  | MatchNoneQuery
  | BoolQuery
  | TermQuery
  | TermsQuery
  | RangeQuery
  | ExistsQuery
  | WildcardQuery
  | PrefixQuery
  | RegexpQuery
  | FuzzyQuery
  | MatchQuery
  | MultiMatchQuery
  | QueryStringQuery
  | SimpleQueryStringQuery
  | IdsQuery
  | TermsSetQuery
  | ConstantScoreQuery
  | DisMaxQuery
  | BoostingQuery
  | NestedQuery
  | FunctionScoreQuery;
