/** Tables that tests of the twin work on: relations, checks, defaults, a sequence, and rows in all of them. */
import { fileURLToPath } from "node:url";

/** Config of a service `postgres` that has these tables. */
export const tables = {
  SCHEMA_PATH: fileURLToPath(new URL("./schema.sql", import.meta.url)),
  SEED_PATH: fileURLToPath(new URL("./seed.sql", import.meta.url)),
};

/** Services of an environment file, as text: Postgres with these tables. */
export const postgresService = `{ name: postgres, config: ${JSON.stringify(tables)} }`;
