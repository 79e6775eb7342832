/** The files of the page: few, small, compressed, and always those of the sources as they are. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createConsole } from "../index.ts";
import { startWithConsole } from "../testing/browser.ts";

/** Of all that the document loads, and of the document. */
const MAX_PAGE_BYTES = 60_000;

describe("the page of this repository", () => {
  let twins: RunningTwins;
  beforeAll(async () => {
    twins = await startWithConsole();
  });
  afterAll(() => twins.stop());

  /** The addresses of the files that the document names. */
  async function files(): Promise<string[]> {
    const { text } = await request("GET", `${twins.baseUrl}/console`);
    return [...text.matchAll(/="(\/console\/assets\/[^"]+)"/g)].map(
      ([, address]) => `${twins.baseUrl}${address}`,
    );
  }

  test("document, script, style and worklet together have at most 60 KB", async () => {
    const addresses = await files();
    expect(addresses.map((address) => path.extname(address)).sort()).toEqual([".css", ".js", ".js"]);
    let bytes = Buffer.byteLength((await request("GET", `${twins.baseUrl}/console`)).text);
    for (const address of addresses) {
      const { headers } = await fetch(address, { method: "HEAD", headers: { "accept-encoding": "br" } });
      expect(headers.get("content-encoding")).toBe("br");
      bytes += Number(headers.get("content-length"));
    }
    expect(bytes).toBeGreaterThan(MAX_PAGE_BYTES / 10);
    expect(bytes).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  });

  test("a file is the same however it is compressed, and kept by the browser for good", async () => {
    for (const address of await files()) {
      const texts = await Promise.all(
        ["br", "gzip", "identity", "br;q=0, gzip;q=0.5"].map(async (accepted) => {
          const response = await fetch(address, { headers: { "accept-encoding": accepted } });
          expect(response.headers.get("cache-control")).toContain("immutable");
          return response.text();
        }),
      );
      expect(new Set(texts).size).toBe(1);
    }
  });

  test("a file that there is not, or not any more, is not found", async () => {
    const { status } = await request("GET", `${twins.baseUrl}/console/assets/app-OLD.js`);
    expect(status).toBe(404);
  });
});

describe("changed sources", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "console-page-"));
    await mkdir(path.join(folder, "talk"));
    await writeFile(path.join(folder, "talk", "worklet.ts"), "console.log('worklet');");
  });
  afterAll(() => rm(folder, { recursive: true }));

  const write = (file: string, text: string) => writeFile(path.join(folder, file), text);

  test("are bundled with the next request, without a restart; those that cannot be are named", async () => {
    await write("app.tsx", "import './look.css'; console.log('first');");
    await write("look.css", "p { color: red; }");
    const pages = createConsole(folder);
    const serve = async (address: string) =>
      String((await pages.serve({ path: address, headers: {}, connectSources: [] })).body);
    const contents = async () => {
      const addresses = [...(await serve("/")).matchAll(/="\/console(\/assets\/[^"]+)"/g)].map(
        ([, at = ""]) => at,
      );
      return { addresses, text: (await Promise.all(addresses.map(serve))).join("\n") };
    };
    const first = await contents();
    expect(first.text).toContain("first");
    expect(await contents()).toEqual(first);

    await write("app.tsx", "import './look.css'; console.log('second, and longer');");
    const second = await contents();
    expect(second.text).toContain("second");
    expect(second.addresses).not.toEqual(first.addresses);

    await write("look.css", "p { color: rebeccapurple; }");
    expect((await contents()).text).toMatch(/rebeccapurple|#639/);

    await write("app.tsx", "const = 1;");
    await expect(serve("/")).rejects.toThrow(/app\.tsx:1:6/);
    await write("app.tsx", "console.log('mended');");
    expect((await contents()).text).toContain("mended");
  });
});
