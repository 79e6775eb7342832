/** What an expression is compiled in: the fields it reads and the search around it. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { lambdaParameter } from "../relation/typed.ts";
import { SplError } from "../spl-error.ts";
import { fieldPrecision } from "./precision.ts";
import { nothing, type Value } from "./value.ts";

export class Scope {
  readonly input: Relation;
  readonly context: SearchContext;
  /** For error messages: `'EvalCommand'`, `'where' command`. */
  readonly command: string;
  readonly #names: ReadonlyMap<string, Value>;
  readonly #subqueries: Sql[] = [];
  readonly #found = lambdaParameter();

  constructor(
    input: Relation,
    context: SearchContext,
    command: string,
    names: ReadonlyMap<string, Value> = new Map(),
  ) {
    this.input = input;
    this.context = context;
    this.command = command;
    this.#names = names;
  }

  /** The value of a field; `nothing` for an unknown one. */
  field(name: string): Value {
    const named = this.#names.get(name);
    if (named) return named;
    const column = columnOf(this.input, name);
    if (column === undefined) return nothing;
    const value = fieldValue(column);
    const precision = value.multi ? {} : { precision: fieldPrecision(value) };
    return { ...value, loose: column.type === "text", ...precision };
  }

  /** A scope in which some names have other values: `mvmap` binds a field to one of its values. */
  with(names: ReadonlyMap<string, Value>): Scope {
    return new Scope(this.input, this.context, this.command, new Map([...this.#names, ...names]));
  }

  /** Whether some names are bound to other values than the row's. */
  get narrowed(): boolean {
    return this.#names.size > 0;
  }

  /** Registers a subquery. Its value is computed outside of the expression, since DuckDB allows no subquery in a lambda. */
  subquery(select: Sql): Sql {
    this.#subqueries.push(select);
    return sql`${this.#found}.${subqueryName(this.#subqueries.length - 1)}`;
  }

  get hasSubqueries(): boolean {
    return this.#subqueries.length > 0;
  }

  /** Wraps an expression of this scope so that its subqueries are computed first. */
  withSubqueries(expression: Sql): Sql {
    if (this.#subqueries.length === 0) return expression;
    const members = this.#subqueries.map((select, index) => sql`${subqueryName(index)} := (${select})`);
    return sql`list_transform([struct_pack(${joined(members, ", ")})], lambda ${this.#found}: ${expression})[1]`;
  }

  fail(message: string): never {
    throw new SplError(`Error in ${this.command}: ${message}`, "run");
  }
}

function subqueryName(index: number): Sql {
  return raw(`q${index}`);
}
