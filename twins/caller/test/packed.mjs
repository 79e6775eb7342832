/** For test/house/pack.test.ts: the installed package, run by plain Node. */
import assert from "node:assert/strict";

export default async function (_variables, load) {
  const { differences } = await load("@offhook/caller/match");
  assert.deepEqual(differences({ service: "check*" }, { service: "checkout" }, "call"), []);
}
