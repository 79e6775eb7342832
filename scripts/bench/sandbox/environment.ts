/**
 * The environment of the measured program, with the files that a Postgres database is made from: a table, and as many
 * rows as are asked for.
 */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const schema =
  "CREATE TABLE rows (id int PRIMARY KEY, name text NOT NULL, note text NOT NULL, open boolean NOT NULL);";

/** No service but the engine: what is measured is started through `POST /sandboxes`, and names the files below. */
const environment = "version: 1\nservices: []\nrequest_folders: [.]\n";

export interface BenchEnvironment {
  folder: string;
  /** Path of the environment file. */
  file: string;
  /** Config of the Postgres twin. */
  configOf(rows: number): object;
}

export async function writeEnvironment(sizes: readonly number[]): Promise<BenchEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), "offhook-bench-"));
  const file = join(folder, "environment.yaml");
  await writeFile(file, environment);
  await writeFile(join(folder, "schema.sql"), schema);
  for (const rows of sizes) {
    const seed = `INSERT INTO rows SELECT n, 'row ' || n, 'a row as a twin holds many', true FROM generate_series(1, ${rows}) n;`;
    await writeFile(join(folder, `${rows}.sql`), seed);
  }
  return {
    folder,
    file,
    configOf: (rows) => ({ SCHEMA_PATH: join(folder, "schema.sql"), SEED_PATH: join(folder, `${rows}.sql`) }),
  };
}
