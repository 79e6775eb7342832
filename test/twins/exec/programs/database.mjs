/** A client of a database that is known by its name in production, at the usual port. */
import pg from "pg";

const url = new URL(process.env.DATABASE_URL ?? "");
url.host = "db.internal:5432";
const client = new pg.Client({ connectionString: url.href });
await client.connect();
const { rows } = await client.query("select count(*)::int as incidents from incidents");
await client.end();
process.stdout.write(`${JSON.stringify(rows)}\n`);
