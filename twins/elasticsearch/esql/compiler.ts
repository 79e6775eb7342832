/** The state of one compilation, and what the parts of the compiler have in common. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { QueryContext } from "../query/compiled-query.ts";
import { Problems, type Span, UnrecognisedEsql } from "./errors.ts";
import { type FoldedConstants, UnfoldedConstant, withoutColumns } from "./folding.ts";
import { didYouMean } from "./params.ts";
import { type Column, Pipeline } from "./pipeline.ts";
import type { Expression } from "./syntax.ts";
import { type Constant, type Typed, unknownTyped } from "./typed.ts";
import { type DataType, isTimeSpan } from "./types.ts";

/** DuckDB bounds the depth of expressions, so deeper ones get a layer of their own. */
const MAX_SQL_DEPTH = 60;

interface SeveralValues {
  /** The value of a row with several values, for the warning. */
  treatedAs: string;
  message: string;
}

const severalValues: SeveralValues = {
  treatedAs: "null",
  message: "java.lang.IllegalArgumentException: single-value function encountered multi-value",
};

/** Where the names of a query are looked up. */
export type EsqlFields = Pick<QueryContext, "fields" | "fidelity" | "nowMs">;

export abstract class Compiler {
  readonly query: string;
  readonly context: EsqlFields;
  readonly pipeline = new Pipeline();
  readonly problems = new Problems();
  /** Values of aggregate calls and groups, after STATS. */
  readonly #resolved = new Map<Expression, Typed>();
  protected readonly folded: FoldedConstants;
  #hasGroups = false;

  constructor(query: string, context: EsqlFields, folded: FoldedConstants) {
    this.query = query;
    this.context = context;
    this.folded = folded;
  }

  protected abstract compileNode(node: Expression): Typed;

  /** A compiler of the same query with a statement of its own. */
  protected abstract another(): Compiler;

  protected abstract isScalarFunction(name: string): boolean;

  /** Whether grouping functions are allowed: inside STATS. */
  get hasGroups(): boolean {
    return this.#hasGroups;
  }

  withGroupingFunctions<Result>(compile: () => Result): Result {
    this.#hasGroups = true;
    try {
      return compile();
    } finally {
      this.#hasGroups = false;
    }
  }

  text({ start, end }: Span): string {
    return this.query.slice(start, end);
  }

  /** Presets the value of an expression in place of compiling it. */
  resolve(expression: Expression, typed: Typed): void {
    this.#resolved.set(expression, typed);
  }

  expression(node: Expression): Typed {
    const resolved = this.#resolved.get(node);
    if (resolved) return resolved;
    const typed = this.compileNode(node);
    return typed.depth > MAX_SQL_DEPTH ? this.hoist(typed) : typed;
  }

  /**
   * The value of a constant expression; `undefined` for one that reads rows or has several values.
   * @param value the compiled expression
   * @throws UnfoldedConstant before the value is computed
   */
  constant(node: Expression, value: Typed): Constant | undefined {
    if (value.constant || value.multi || isTimeSpan(value.type)) return value.constant;
    const expression = this.constantExpression(node);
    if (!expression) return undefined;
    const key = `${node.at.start}-${node.at.end}`;
    const known = this.folded.get(key);
    if (known) return known;
    const alone = this.another();
    alone.pipeline.base([], raw(""), undefined);
    const computed = alone.expression(expression);
    alone.problems.check();
    throw new UnfoldedConstant(key, alone.pipeline.statement([computed], 1), computed.type);
  }

  /** The expression without columns, if it is constant. */
  constantExpression(node: Expression): Expression | undefined {
    return withoutColumns(
      node,
      (name) => this.find(name),
      (name) => this.isScalarFunction(name),
    );
  }

  /** Whether an expression consists of literals alone: the vendor's `foldable` before columns are resolved. */
  isFoldable(node: Expression): boolean {
    const none = () => undefined;
    return withoutColumns(node, none, (name) => this.isScalarFunction(name)) !== undefined;
  }

  /**
   * An operand of AND, OR or WHERE, with a test for a single value: several values count as null, without a warning.
   */
  protected truthOf(value: Typed): [truth: Typed, isOne: Sql | undefined] {
    if (!value.multi) return [value, undefined];
    const list = this.hoist(value);
    const truth = { ...list, multi: false, sql: sql`${list.sql}[1]`, atomic: false };
    return [truth, sql`coalesce(len(${list.sql}), 0) <= 1`];
  }

  /** A condition on rows. */
  truth(value: Typed): Sql {
    const [truth, isOne] = this.truthOf(value);
    return isOne ? sql`(${isOne} AND ${truth.sql})` : truth.sql;
  }

  column(name: string, at: Span): Typed {
    const found = this.find(name);
    if (found) return this.read(found, at);
    this.problems.unresolved(at, `Unknown column [${name}]${didYouMean(name, this.#names())}`);
    return unknownTyped(at);
  }

  find(name: string): Column | undefined {
    return this.pipeline.columns.find((column) => column.name === name);
  }

  read({ ref, type, multi }: Column, at: Span): Typed {
    return { type, multi, sql: this.pipeline.use(ref), constant: undefined, atomic: true, depth: 1, at };
  }

  #names(): string[] {
    return this.pipeline.columns.map(({ name }) => name);
  }

  /** A value computed from others. */
  derive(type: DataType, computed: Sql, at: Span, ...from: readonly Typed[]): Typed {
    const depth = 1 + from.reduce((deepest, value) => Math.max(deepest, value.depth), 0);
    return { type, multi: false, sql: computed, constant: undefined, atomic: false, depth, at };
  }

  /** Stores the value in a column, so that repeated reads compute it once. */
  hoist(value: Typed): Typed {
    if (value.atomic) return value;
    return { ...value, sql: this.pipeline.use(this.pipeline.place(value.sql)), atomic: true, depth: 1 };
  }

  /**
   * A single value as it is; null with the vendor's warning for several.
   * @param at the expression to warn about
   * @param warning text for several values
   */
  single(value: Typed, at: Span, warning = severalValues): Typed {
    if (!value.multi) return value;
    const list = this.hoist(value);
    this.pipeline.check(at, sql`len(${list.sql}) > 1`, sql`${warning.message}`, warning.treatedAs);
    return {
      ...list,
      multi: false,
      atomic: false,
      depth: 2,
      sql: sql`CASE WHEN len(${list.sql}) = 1 THEN ${list.sql}[1] END`,
    };
  }

  /** The value as a list; NULL for none. */
  asList(value: Typed): Typed {
    if (value.multi) return value;
    const one = this.hoist(value);
    return {
      ...one,
      multi: true,
      atomic: false,
      depth: 2,
      sql: sql`CASE WHEN ${one.sql} IS NOT NULL THEN [${one.sql}] END`,
    };
  }

  /**
   * A computation that may fail: NULL with the vendor's warning where it does. Inputs should be atomic or cheap, as
   * they are repeated.
   */
  attempt(value: Typed, inputs: readonly Typed[], message: Sql | string): Typed {
    const guarded = sql`TRY(${value.sql})`;
    const given = inputs.reduce((all, input) => sql`${all}${input.sql} IS NOT NULL AND `, raw(""));
    this.pipeline.check(value.at, sql`${given}${guarded} IS NULL`, sql`${message}`);
    return { ...value, sql: guarded, depth: value.depth + 1 };
  }

  /** A computation for valid inputs: NULL with the vendor's warning for others. */
  guard(value: Typed, valid: Sql, message: Sql | string): Typed {
    this.pipeline.check(value.at, sql`NOT (${valid})`, sql`${message}`);
    return { ...value, sql: sql`CASE WHEN ${valid} THEN ${value.sql} END`, depth: value.depth + 1 };
  }

  /** NULL with a warning for infinity and NaN. */
  finite(value: Typed): Typed {
    const number = this.hoist(value);
    const message = sql`'java.lang.ArithmeticException: not a finite double number: ' || CASE WHEN isnan(${number.sql}) THEN 'NaN' WHEN ${number.sql} > 0 THEN 'Infinity' ELSE '-Infinity' END`;
    return { ...this.guard(number, sql`isfinite(${number.sql})`, message), atomic: false };
  }

  /** A time span is no value of a row. */
  valueOf(value: Typed): Typed {
    if (isTimeSpan(value.type)) throw new UnrecognisedEsql(value.at, `a span of time as a value`);
    return value;
  }
}
