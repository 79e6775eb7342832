/** Which SQL of a model runs. Proves a part of twins/SECURITY.md. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLogStore } from "../../store/duckdb-log-store.ts";
import type { LogStore } from "../../store/log-store.ts";
import { checkedSelect, UncheckedSql } from "../../translator/checked-select.ts";

const tables = ["documents", "clock"];

describe("SQL that a model wrote", () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await openLogStore();
    await store.write([{ index: "logs", source: JSON.stringify({ level: "error", message: "a b", n: 1 }) }]);
  });
  afterAll(() => store.close());

  const harmless = [
    "SELECT level, count(*) AS n FROM documents GROUP BY level ORDER BY n DESC LIMIT 10",
    "SELECT _row FROM documents WHERE level = 'error' AND n BETWEEN 1 AND 3;",
    "WITH e AS (SELECT * FROM documents WHERE level = 'error') SELECT count(DISTINCT n) FROM e JOIN e AS f USING (_row)",
    "SELECT date_trunc('hour', now) FROM clock",
    "SELECT w FROM documents, unnest(string_split(message, ' ')) AS t(w) WHERE w LIKE 'a%'",
    "SELECT CASE WHEN n IS NULL THEN 0 ELSE n + 1 END, row_number() OVER (ORDER BY n) FROM documents",
    "SELECT list_transform([1, 2], lambda x: x + 1), n::VARCHAR, coalesce(level, '?') FROM documents",
    "SELECT 1 FROM documents UNION ALL SELECT 2 FROM documents",
    "SELECT 'DROP TABLE documents; COPY' AS text",
  ];
  test.each(harmless)("one SELECT over the dataset runs: %s", async (text) => {
    await expect(checkedSelect(store, text, tables)).resolves.toMatchObject({ text: text.replace(/;$/, "") });
  });

  const hostile = [
    ["a definition", "DROP TABLE documents"],
    ["a definition", "CREATE TABLE t AS SELECT 1"],
    ["a write", "DELETE FROM documents"],
    ["a write in a WITH clause", "WITH gone AS (DELETE FROM documents RETURNING *) SELECT * FROM gone"],
    ["COPY", "COPY documents TO 'out.csv'"],
    ["ATTACH", "ATTACH 'other.duckdb' AS other"],
    ["a setting", "SET memory_limit = '1TB'"],
    ["PRAGMA", "PRAGMA database_list"],
    ["stacked statements", "SELECT 1; DROP TABLE documents"],
    ["stacked SELECTs", "SELECT 1; SELECT 2"],
    ["a file function", "SELECT * FROM read_csv('/etc/passwd')"],
    ["a file function", "SELECT * FROM read_text('/etc/passwd')"],
    ["a file as a table", "SELECT * FROM '/etc/passwd'"],
    ["glob", "SELECT * FROM glob('/*')"],
    ["another table", "SELECT * FROM postings_1"],
    ["another table in a subquery", "SELECT (SELECT count(*) FROM duckdb_tables) FROM documents"],
    ["another schema", "SELECT * FROM information_schema.tables"],
    ["another schema's table of that name", "SELECT * FROM temp.documents"],
    ["a table function of the catalog", "SELECT * FROM duckdb_settings()"],
    ["a pragma as a table", "SELECT * FROM pragma_database_list"],
    [
      "a WITH clause that is out of scope",
      "SELECT * FROM (WITH postings_1 AS (SELECT 1) SELECT * FROM postings_1), postings_1",
    ],
    ["a function of the environment", "SELECT getenv('HOME')"],
    ["a function of the settings", "SELECT current_setting('memory_limit')"],
    ["the machine's clock", "SELECT now()"],
    ["a sequence", "SELECT nextval('s')"],
    ["SHOW", "SELECT * FROM (SHOW TABLES)"],
    ["DESCRIBE", "SELECT * FROM (DESCRIBE documents)"],
    ["a parameter", "SELECT $1"],
    ["query()", "SELECT * FROM query('SELECT 1')"],
    ["query_table()", "SELECT * FROM query_table('documents')"],
    ["nothing", ""],
    ["prose", "I am sorry, I cannot do that."],
    ["more than a query needs", `SELECT ${"1 + ".repeat(10_000)}1`],
    ["a deep nest", `${"SELECT (".repeat(2_000)}1${")".repeat(2_000)}`],
  ] as const;
  test.each(hostile)("%s is refused, with a reason", async (_, text) => {
    await expect(checkedSelect(store, text, tables)).rejects.toThrow(UncheckedSql);
    expect(
      (await store.query((await import("../../sql.ts")).sql`SELECT count(*) FROM documents`)).rows,
    ).toEqual([[1]]);
  });
});
