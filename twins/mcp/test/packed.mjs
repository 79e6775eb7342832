/** For test/house/pack.test.ts: the installed package, run by plain Node. */
import assert from "node:assert/strict";

export default async function (_variables, load) {
  const { createProjectServer } = await load("@offhook/mcp");
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { InMemoryTransport } = await load("@modelcontextprotocol/sdk/inMemory.js");
  const { server, close } = createProjectServer({
    scenariosFolder: ".",
    samplesFolder: ".",
    locateTwins: () => undefined,
    locateAgent: () => Promise.reject(new Error("there is no agent")),
  });
  const [here, there] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "packed", version: "1" });
  await Promise.all([server.connect(there), client.connect(here)]);
  const { isError, content } = await client.callTool({ name: "list_twins", arguments: {} });
  assert.equal(isError, true);
  assert.match(content[0].text, /no twins run in this folder/);
  await close();
}
