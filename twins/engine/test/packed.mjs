/** For test/house/pack.test.ts: the installed package, run by plain Node. */
import assert from "node:assert/strict";

export default async function ({ ENGINE_URL }) {
  const { status } = await fetch(`${ENGINE_URL}/simulations`, { method: "POST" });
  assert.equal(status, 201);
}
