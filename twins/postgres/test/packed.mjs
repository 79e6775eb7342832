/** For test/house/pack.test.ts: the vendor's client and the installed package, run by plain Node. */
import assert from "node:assert/strict";
import pg from "pg";

export default async function ({ DATABASE_URL: connectionString }) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query("CREATE TABLE incidents (id int PRIMARY KEY, title text)");
  await client.query("INSERT INTO incidents VALUES (1, 'payments')");
  assert.deepEqual((await client.query("SELECT title FROM incidents")).rows, [{ title: "payments" }]);
  await client.end();
}
