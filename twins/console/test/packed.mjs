/** For test/house/pack.test.ts: the installed package, run by plain Node. Its page is bundled; no bundler is installed. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";

export default async function (_variables, load) {
  const [{ startTwins }, { default: engine }] = [
    await load("@offhook/platform"),
    await load("@offhook/engine"),
  ];
  const environmentFile = "console.yaml";
  writeFileSync(environmentFile, "version: 1\nservices: []\n");
  const twins = await startTwins({
    twins: [engine],
    environmentFile,
    console: () => load("@offhook/console"),
  });
  try {
    const document = await (await fetch(`${twins.baseUrl}/console/dev/calls`)).text();
    const files = [...document.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, file]) => file);
    assert.deepEqual(files.map((file) => file.split(".").at(-1)).sort(), ["css", "js"]);
    for (const file of files) {
      const response = await fetch(twins.baseUrl + file);
      assert.equal(response.status, 200);
      assert.ok((await response.text()).length > 1000, file);
    }
  } finally {
    await twins.stop();
  }
  await assert.rejects(load("esbuild"), { code: "ERR_MODULE_NOT_FOUND" });
  await assert.rejects(load("preact"), { code: "ERR_MODULE_NOT_FOUND" });
}
