/**
 * Decides whether SQL from outside may run: it must be one SELECT that reads the dataset alone. DuckDB's own parser reads it, not a
 * search for keywords.
 */
import { z } from "zod";
import { raw, type Sql, sql } from "../sql.ts";
import type { LogStore, QueryOptions } from "../store/log-store.ts";
import { isAllowedFunction, isAllowedTableFunction } from "./allowed-functions.ts";

/** Longest SQL that is parsed. */
const MAX_CHARACTERS = 20_000;

/** SQL that is refused; the message says why, for its author. */
export class UncheckedSql extends Error {
  override name = "UncheckedSql";
}

const parsed = z.union([
  z.object({ error: z.literal(true), error_message: z.string().default("it cannot be parsed") }),
  z.object({ error: z.literal(false), statements: z.array(z.object({ node: z.looseObject({}) })) }),
]);

/**
 * @param tables names that it may read, besides those that it defines itself
 * @throws UncheckedSql, and what `store.query` throws
 */
export async function checkedSelect(
  store: Pick<LogStore, "query">,
  text: string,
  tables: readonly string[],
  options?: QueryOptions,
): Promise<Sql> {
  const statement = text.trim().replace(/;\s*$/, "");
  if (statement.length > MAX_CHARACTERS)
    throw new UncheckedSql(`it is longer than ${MAX_CHARACTERS} characters`);
  const { rows } = await store.query(
    sql`SELECT json_serialize_sql(CAST(${statement} AS VARCHAR))::VARCHAR`,
    options,
  );
  const tree = parsed.parse(JSON.parse(String(rows[0]?.[0])));
  if (tree.error) throw new UncheckedSql(`it is not one SELECT statement: ${tree.error_message}`);
  const [only, ...others] = tree.statements;
  if (only === undefined || others.length > 0) throw new UncheckedSql("it is not exactly one statement");
  walk(only.node, new Set(tables.map((name) => name.toLowerCase())));
  return raw(statement);
}

type Names = ReadonlySet<string>;

/** Walks a tree of DuckDB's parser, and refuses what is not known to be harmless. @param readable tables, in lower case */
function walk(value: unknown, readable: Names): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, readable);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const node = value as Record<string, unknown>;
  const inside = addDefined(node.cte_map, readable);
  checkNode(node, inside);
  for (const member of Object.values(node)) walk(member, inside);
}

/** Adds the tables that a WITH clause defines, which are readable below it alone. */
function addDefined(cteMap: unknown, readable: Names): Names {
  const defined = cteMapSchema.safeParse(cteMap);
  if (!defined.success || defined.data.map.length === 0) return readable;
  return new Set([...readable, ...defined.data.map.map(({ key }) => key.toLowerCase())]);
}

const cteMapSchema = z.object({ map: z.array(z.object({ key: z.string() })) });

function checkNode(node: Record<string, unknown>, readable: Names): void {
  const { type, function_name: name } = node;
  if (type === "BASE_TABLE") checkTable(node, readable);
  if (type === "TABLE_FUNCTION") checkTableFunction(node);
  if (typeof type === "string" && refusedTypes.has(type)) {
    throw new UncheckedSql(`it uses ${type}, which a query may not`);
  }
  if (typeof name === "string" && name !== "" && !isAllowedFunction(name) && !isAllowedTableFunction(name)) {
    throw new UncheckedSql(`it calls ${name}, which is not among the functions a query may call`);
  }
}

function checkTable(
  { catalog_name, schema_name, table_name }: Record<string, unknown>,
  readable: Names,
): void {
  const name = String(table_name);
  const qualified = [catalog_name, schema_name].some((part) => typeof part === "string" && part !== "");
  if (qualified || !readable.has(name.toLowerCase())) {
    throw new UncheckedSql(`it reads ${name}; it may read ${[...readable].join(", ")} alone`);
  }
}

function checkTableFunction({ function: call }: Record<string, unknown>): void {
  const named = z.object({ function_name: z.string() }).safeParse(call);
  const name = named.data?.function_name ?? "a table function";
  if (!isAllowedTableFunction(name)) throw new UncheckedSql(`it reads from ${name}, which a query may not`);
}

const refusedTypes: ReadonlySet<string> = new Set([
  "SHOW_REF",
  "COLUMN_DATA",
  "DELIM_GET",
  "BOUND_TABLE_REF",
  "PARAMETER",
  "VALUE_PARAMETER",
]);
