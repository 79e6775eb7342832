import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import engine from "@offhook/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTwins } from "../server/start.ts";
import { request } from "../testing/http.ts";
import { createShop } from "../testing/shop-twin.ts";
import { addressesOf, startEnvironment } from "../testing/twins.ts";

describe("startTwins", () => {
  test("answers addresses of every twin, split into url and control_url", async () => {
    const twins = await startEnvironment("version: 1\nservices: [{ name: shop }]\n", {
      twins: [engine, createShop()],
    });
    expect(twins.sandboxes).toEqual([
      {
        id: "dev",
        twins: ["engine", "shop"].map((name) => ({
          name,
          url: `${twins.baseUrl}/s/dev/${name}`,
          control_url: `${twins.baseUrl}/c/dev/${name}`,
          control_auth: "api_key",
          environment: expect.any(Object),
        })),
      },
    ]);
    await twins.stop();
  });

  test("listens on 127.0.0.1 and gives the port back when stopped, however often stop is called", async () => {
    const twins = await startTwins({ twins: [engine], ...(await emptyEnvironment()) });
    expect(twins.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await request("GET", `${twins.baseUrl}/simulations/x`);
    await Promise.all([twins.stop(), twins.stop()]);
    await twins.stop();
    const again = await startTwins({
      twins: [engine],
      port: Number(new URL(twins.baseUrl).port),
      ...(await emptyEnvironment()),
    });
    await again.stop();
  });

  test("a port in use is an error that says what to do", async () => {
    const taken = net.createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as net.AddressInfo;
    const starting = startTwins({ twins: [engine], port, ...(await emptyEnvironment()) });
    await expect(starting).rejects.toThrow(`port ${port} on 127.0.0.1 is in use`);
    await expect(starting).rejects.toThrow("TWINS_PORT");
    taken.close();
  });

  test("a twin that does not start is named with its reason, the others are stopped and the port is free", async () => {
    const heard: string[] = [];
    const failing = { ...createShop(), name: "failing" };
    const twins = [engine, failing, createShop((what) => heard.push(what))];
    const text =
      "version: 1\nservices:\n  - name: failing\n    config: { fails: the till is missing }\n  - name: shop\n";
    await expect(startEnvironment(text, { twins })).rejects.toThrow(
      "twin failing of sandbox dev did not start: the till is missing",
    );
    expect(heard).toEqual(["stopped"]);
  });

  test("an environment file that is not there is an error that names it", async () => {
    await expect(startTwins({ environmentFile: "none/environment.yaml" })).rejects.toThrow(
      "none/environment.yaml",
    );
  });

  test("tells how the environment file says that the agent is reached and set up", async () => {
    const text =
      "version: 1\nservices: []\nactor:\n  channels: [{ type: voice_ws, url: 'ws://127.0.0.1:8008/voice' }]\nagent:\n  environment: { SIMULATION_ID: '{SIMULATION_ID}' }\n";
    const twins = await startEnvironment(text, { twins: [engine] });
    expect(twins.channels).toMatchObject([{ url: "ws://127.0.0.1:8008/voice", protocol: "binary" }]);
    expect(twins.agentEnvironment("run-1")).toEqual({ SIMULATION_ID: "run-1" });
    await twins.stop();
  });

  test("a twin that is no longer registered leaves the rest standing", async () => {
    const twins = await startEnvironment("version: 1\nservices: []\n", { twins: [engine] });
    expect(addressesOf(twins, "engine").url).toContain("/s/dev/engine");
    expect((await request("GET", `${twins.baseUrl}/s/dev/shop/things`)).status).toBe(404);
    await twins.stop();
  });
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "twins-"));
  await writeFile(path.join(folder, "environment.yaml"), "version: 1\nservices: []\n");
});
afterEach(() => rm(folder, { recursive: true }));

async function emptyEnvironment(): Promise<{ environmentFile: string }> {
  return { environmentFile: path.join(folder, "environment.yaml") };
}

describe("npm run twins", () => {
  const root = fileURLToPath(new URL("../../..", import.meta.url));
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
