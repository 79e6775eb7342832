/** The files that a measured Postgres database is made from: a table, and as many rows as are asked for. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** No service but the engine: what is measured is started through `POST /sandboxes`. */
export const environmentFile = fileURLToPath(new URL("./environment.yaml", import.meta.url));

const schema =
  "CREATE TABLE rows (id int PRIMARY KEY, name text NOT NULL, note text NOT NULL, open boolean NOT NULL);";

export async function writeSql(
  sizes: readonly number[],
): Promise<{ folder: string; configOf(rows: number): object }> {
  const folder = await mkdtemp(join(tmpdir(), "offhook-bench-"));
  await writeFile(join(folder, "schema.sql"), schema);
  for (const rows of sizes) {
    const seed = `INSERT INTO rows SELECT n, 'row ' || n, 'a row as a twin holds many', true FROM generate_series(1, ${rows}) n;`;
    await writeFile(join(folder, `${rows}.sql`), seed);
  }
  return {
    folder,
    configOf: (rows) => ({ SCHEMA_PATH: join(folder, "schema.sql"), SEED_PATH: join(folder, `${rows}.sql`) }),
  };
}
