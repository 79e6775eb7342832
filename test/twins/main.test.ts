import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { request } from "@offhook/platform/testing/http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "twins-"));
  await writeFile(path.join(folder, "environment.yaml"), "version: 1\nservices: []\n");
});
afterEach(() => rm(folder, { recursive: true }));

describe("npm run twins", () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  function run(args: string[], environment: Record<string, string> = {}): ChildProcess {
    const main = path.join(root, "twins/main.ts");
    // Not through tsx's own command, whose child would outlive it when it is killed.
    const child = spawn(process.execPath, ["--import", import.meta.resolve("tsx"), main, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", TWINS_PORT: "0", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    children.push(child);
    return child;
  }

  async function firstLine(child: ChildProcess): Promise<string> {
    if (!child.stdout) throw new Error("the child has no standard output");
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    return line;
  }

  async function errorsOf(child: ChildProcess): Promise<{ code: number | null; text: string }> {
    let text = "";
    child.stderr?.on("data", (chunk) => {
      text += chunk;
    });
    const [code] = await once(child, "close");
    return { code, text };
  }

  test("--json: the first line is one object, printed when all twins answer", async () => {
    const child = run(["--environment", "environment.yaml", "--json"], {
      SANDBOX_API_KEY: "a-key-of-my-own",
    });
    const printed = JSON.parse(await firstLine(child));
    expect(printed).toMatchObject({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      api_key: "a-key-of-my-own",
      sandboxes: [{ id: "dev", twins: [{ name: "engine", control_auth: "api_key" }] }],
    });
    const health = `${printed.sandboxes[0].twins[0].control_url}/sim/health`;
    expect((await request("GET", health, { headers: { "x-api-key": "a-key-of-my-own" } })).status).toBe(200);
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "%s stops it with status 0; the locator file lives as long as it runs",
    async (signal) => {
      const child = run(["--environment", "environment.yaml", "--json"]);
      const printed = JSON.parse(await firstLine(child));
      expect(printed.api_key.length).toBeGreaterThan(20);
      const locator = path.join(folder, ".offhook/twins.json");
      expect(JSON.parse(await readFile(locator, "utf8"))).toMatchObject({
        base_url: printed.base_url,
        api_key: printed.api_key,
      });
      expect((await stat(locator)).mode & 0o777).toBe(0o600);
      child.kill(signal);
      expect(await once(child, "exit")).toEqual([0, null]);
      // The authority stays for the next start.
      expect((await readdir(path.dirname(locator))).sort()).toEqual(["authority.pem", "ca.pem"]);
    },
  );

  test("SANDBOX_API_KEYS names organisations by the hashes of their keys; the first one owns dev", async () => {
    const hash = (key: string) => `sha256:${createHash("sha256").update(key).digest("hex")}`;
    const child = run(["--environment", "environment.yaml", "--json"], {
      SANDBOX_API_KEYS: `acme=${hash("key-of-acme")},globex=${hash("key-of-globex")}`,
      SANDBOX_LIMIT: "1",
    });
    const { base_url, api_key } = JSON.parse(await firstLine(child));
    const asked = (key: string, method = "GET", id = "") =>
      request(method, `${base_url}/sandboxes${id}`, { headers: { "x-api-key": key } });
    expect((await asked("key-of-acme", "GET", "/dev")).status).toBe(200);
    expect((await asked(api_key, "GET", "/dev")).status).toBe(200);
    expect((await asked("key-of-globex", "GET", "/dev")).status).toBe(404);
    expect((await asked("key-of-globex", "POST")).status).toBe(201);
    expect((await asked("key-of-globex", "POST")).status).toBe(429);
    expect((await asked("key-of-nobody")).status).toBe(401);
  });

  test("without --json every address and the key are printed for people", async () => {
    const child = run(["--environment", "environment.yaml"]);
    expect(await firstLine(child)).toMatch(/^gateway and engine {2}http:\/\/127\.0\.0\.1:\d+$/);
  });

  test.each([
    ["an unknown option", ["--enviroment", "x"], {}, "npm run twins -- [--environment FILE]"],
    ["a key in the clear", [], { SANDBOX_API_KEYS: "acme=in-the-clear" }, "SANDBOX_API_KEYS: entry 1"],
    ["a port that is none", [], { TWINS_PORT: "many" }, "TWINS_PORT"],
    ["an environment file with a mistake", ["--environment", "bad.yaml"], {}, "bad.yaml:2: "],
  ])("%s ends it with status 1 and says why", async (_name, args, environment, words) => {
    await writeFile(path.join(folder, "bad.yaml"), "version: 1\nservices: 3\n");
    const { code, text } = await errorsOf(run(args, environment));
    expect(code).toBe(1);
    expect(text).toContain(words);
    expect(text).not.toContain("    at ");
  });
});
