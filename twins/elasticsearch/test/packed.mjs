/** For test/house/pack.test.ts: the vendor's client and the installed package, run by plain Node. */
import assert from "node:assert/strict";
import { Client } from "@elastic/elasticsearch";

export const config = { fidelity: "vendor" };

export default async function ({ ELASTICSEARCH_URL: node }) {
  const client = new Client({ node });
  await client.index({ index: "logs", document: { message: "card payments time out" }, refresh: true });
  const { hits } = await client.search({ index: "logs", query: { match: { message: "payments" } } });
  assert.deepEqual(hits.hits[0]?._source, { message: "card payments time out" });
  await client.close();
}
