/** `npm run twins -- exec -- COMMAND`: programs that know the vendors' addresses alone reach the twins. */

import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { listen } from "@offhook/platform/http/listen";
import { request } from "@offhook/platform/testing/http";
import { familyOf, survivorsOf } from "@offhook/platform/testing/processes";
import { tables } from "@offhook/postgres/testing/tables";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Command, type Finished } from "../../support/command.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const program = (name: string) => path.join(root, "test/twins/exec/programs", `${name}.mjs`);
const MAIN = "../twins/main.ts";
const node = process.execPath;
const execute = promisify(execFile);

const folder = mkdtempSync(path.join(tmpdir(), "exec-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The voice runtime, without the database: nothing here needs it. */
const environmentFile = path.join(folder, "environment.yaml");
const script = path.join(root, "samples/scenarios/ask-status.yaml");
writeFileSync(
  environmentFile,
  `version: 1\nservices:\n  - name: vapi\n    dns_aliases: [voice.internal]\n    config: { script: ${script} }\n`,
);

/** Starts a command under exec, with twins of its own. */
function exec(command: string[], env: Record<string, string> = {}): Command {
  return new Command(MAIN, ["exec", "--environment", environmentFile, "--", ...command], env);
}

async function resultsOf(running: Promise<Finished>) {
  const { exitCode, stdout, stderr } = await running;
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout);
}

test("fetch, node-fetch, http, https, ws, wss, net, tls, dns and the vendor's own client reach the twin", async () => {
  const here = { address: "127.0.0.1", family: 4 };
  expect(await resultsOf(exec([node, program("clients")]).finished())).toEqual({
    "fetch https://api.vapi.ai/call": [200, []],
    "node-fetch https://api.vapi.ai/call": 200,
    "fetch http://api.vapi.ai/call": [200, []],
    "node-fetch http://api.vapi.ai/call": 200,
    "fetch https://eu.cloud.vapi.ai:8443/call": [200, []],
    "node-fetch https://eu.cloud.vapi.ai:8443/call": 200,
    http: 200,
    https: 200,
    "https without keep-alive": 200,
    sdk: ["queued", true],
    ws: { status: 404, server: "127.0.0.1" },
    wss: { status: 404, server: "127.0.0.1" },
    "wss call": "open",
    "tls without a server name": "DNS:api.vapi.ai",
    "net.connect(port, host)": "127.0.0.1",
    "tls over a bare socket": true,
    "an address looked up elsewhere, with a server name": "127.0.0.1",
    "dns.lookup": here,
    "dns.lookup all": [here],
    "dns.promises.lookup": here,
    "dns.resolve4": ["127.0.0.1"],
    localhost: "mine",
    "a program of this program": "200",
    "a worker": 200,
  });
});

/** Why a test of a program is skipped; `false`: it is there. */
function isMissing(command: string): boolean {
  return spawnSync(command, ["--version"], { stdio: "ignore" }).status !== 0;
}
const PYTHON = "python3";

test.skipIf(isMissing("curl"))(
  "curl reaches the twin by the vendor's addresses (skipped without curl)",
  async () => {
    const ask = `set -e; for url in https://api.vapi.ai/call http://api.vapi.ai/call https://eu.cloud.vapi.ai:8443/call
    do curl -sS -w ' %{http_code}\\n' -H "Authorization: Bearer $VAPI_API_KEY" $url; done`;
    const { exitCode, stdout, stderr } = await exec(["sh", "-c", ask]).finished();
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toBe("[] 200\n[] 200\n[] 200\n");
  },
);

test.skipIf(isMissing("curl"))("curl is told why a strict exec refuses a host", async () => {
  const command = ["curl", "-sS", "https://vendor.example/"];
  const { exitCode, stderr } = await exec(command, { TWINS_STRICT: "1" }).finished();
  expect(exitCode).not.toBe(0);
  expect(stderr).toMatch(/exec: TWINS_STRICT=1: vendor\.example:443 is no twin's name.*dns_aliases/);
});

test.skipIf(isMissing(PYTHON))(
  "Python's own clients, and requests, httpx, aiohttp and websockets where they are installed, reach the twin (skipped without Python)",
  async () => {
    const file = path.join(root, "test/twins/exec/programs/clients.py");
    const results = await resultsOf(exec([PYTHON, file]).finished());
    expect(results).toMatchObject({
      "urllib https://api.vapi.ai/call": [200, "[]"],
      "urllib http://api.vapi.ai/call": [200, "[]"],
    });
    for (const [client, answer] of Object.entries(results)) {
      expect([client, answer]).toEqual([client, [200, "[]"]]);
    }
  },
);

test("TWINS_STRICT=1 refuses what is neither a twin nor on this machine, and says so", async () => {
  const results = await resultsOf(exec([node, program("strict")], { TWINS_STRICT: "1" }).finished());
  const { twin, loopback, localhost, ...refused } = results;
  expect({ twin, loopback, localhost }).toEqual({ twin: 401, loopback: "connected", localhost: "connected" });
  expect(Object.keys(refused)).toEqual(["fetch", "node-fetch", "http", "ws", "net", "net, IPv6", "tls"]);
  for (const [code, message] of Object.values<[string, string]>(refused)) {
    expect(code).toBe("ERR_TWINS_STRICT");
    expect(message).toMatch(
      /connection to (vendor\.example|192\.0\.2\.1|2001:db8::1):\d+ was refused.*dns_aliases/,
    );
  }
});

test("a database known by a name of its own is reached where it listens, whatever the port", async () => {
  const file = path.join(folder, "database.yaml");
  const services = [{ name: "postgres", config: tables, dns_aliases: ["db.internal"] }];
  writeFileSync(file, JSON.stringify({ version: 1, services }));
  const command = ["exec", "--environment", file, "--", node, program("database")];
  expect(await resultsOf(new Command(MAIN, command).finished())).toEqual([{ incidents: 3 }]);
});

describe("the command", () => {
  const others = "-----BEGIN CERTIFICATE-----\nothers\n-----END CERTIFICATE-----\n";
  let shown: Finished;
  /** One that shows what it was given, with a key and an authority of the surroundings. */
  beforeAll(async () => {
    const file = path.join(folder, "others.pem");
    writeFileSync(file, others);
    const show = `process.exitCode = 7;
      const { VOICE_API_URL, ENGINE_URL, VAPI_API_KEY, NODE_EXTRA_CA_CERTS } = process.env;
      JSON.stringify({ variables: { VOICE_API_URL, ENGINE_URL, VAPI_API_KEY },
        authorities: require("fs").readFileSync(NODE_EXTRA_CA_CERTS, "utf8") })`;
    shown = await exec([node, "-p", show], {
      VAPI_API_KEY: "the-real-key",
      NODE_EXTRA_CA_CERTS: file,
    }).finished();
  });

  test("has its status passed on, and standard output for itself alone", () => {
    const { exitCode, stdout, stderr } = shown;
    expect([exitCode, Object.keys(JSON.parse(stdout))]).toEqual([7, ["variables", "authorities"]]);
    expect(stderr).toMatch(
      /TLS +127\.0\.0\.1:\d+\n +CA +\/.*\n +DNS +127\.0\.0\.1:\d+ .*\n(.*\n)* +voice\.internal -> vapi of dev/,
    );
  });

  test("is told of the proxy for programs that are not Node's, without its password, and which variables are set", () => {
    expect(shown.stderr).toMatch(/proxy +127\.0\.0\.1:\d+ \(HTTPS_PROXY, .*other names are passed on\)\n/);
    expect(shown.stderr).toMatch(/sets ENGINE_URL, .*VAPI_API_KEY\n/);
  });

  test("gets the twins' variables, which win over those of real vendors", () => {
    expect(JSON.parse(shown.stdout).variables).toEqual({
      VOICE_API_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/s\/dev\/vapi$/),
      ENGINE_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/s\/dev\/engine$/),
      VAPI_API_KEY: "vapi-twin-key",
    });
  });

  test("keeps the authorities it was given", () => {
    const { authorities } = JSON.parse(shown.stdout);
    expect(authorities.split("BEGIN CERTIFICATE")).toHaveLength(3);
    expect(authorities).toContain(others);
  });

  test.each(["SIGINT", "SIGTERM"] as const)(
    "receives %s, and what was started for it is stopped",
    async (signal) => {
      const command = exec([node, program("wait")]);
      onTestFinished(() => command.interrupt("SIGTERM"));
      const names = JSON.parse((await command.output(/waiting .*\n/)).replace("waiting ", ""));
      command.interrupt(signal);
      expect(await command.finished()).toMatchObject({
        exitCode: 42,
        stdout: expect.stringContaining(`\n${signal}\n`),
      });
      expect(command.leftSomethingRunning).toBe(false);
      for (const port of [names.http_port, names.tls_port, names.dns_port]) {
        await expect(connects(port)).resolves.toBe(false);
      }
    },
  );

  test("ends with an exec that is killed", async () => {
    const command = exec([node, program("wait")]);
    await command.output(/waiting .*\n/);
    const family = familyOf(command.pid);
    expect(family.length).toBeGreaterThan(1);
    command.interrupt("SIGKILL");
    await expect.poll(() => survivorsOf(family)).toEqual([]);
  });

  test("killed by a signal ends exec with 128 and the signal's number", async () => {
    const { exitCode } = await exec([node, "-e", "process.kill(process.pid, 'SIGKILL')"]).finished();
    expect(exitCode).toBe(137);
  });

  test("that is not there is an error that names it, with the shell's status", async () => {
    const { exitCode, stderr } = await exec(["no-such-command"]).finished();
    expect(exitCode).toBe(127);
    expect(stderr).toContain("no-such-command cannot be run");
  });

  test("that is missing is an error that says how it is done", async () => {
    const { exitCode, stderr } = await new Command(MAIN, ["exec"]).finished();
    expect(exitCode).toBe(1);
    expect(stderr).toContain("exec [--environment FILE] -- COMMAND");
  });
});

test("twins that run in the folder are used, and go on when the command has ended", async () => {
  const twins = new Command(MAIN, ["--environment", environmentFile, "--json"], { TWINS_PORT: "0" });
  onTestFinished(() => twins.interrupt());
  const { base_url, api_key } = JSON.parse(await twins.output(/\n/));
  const args = ["--import", import.meta.resolve("tsx"), path.join(root, "twins/main.ts"), "exec", "--"];
  const command = [node, "-p", "process.env.VOICE_API_URL"];
  // In the folder of those that run.
  const { stdout, stderr } = await execute(node, [...args, ...command], { cwd: twins.folder });
  expect(stdout).toBe(`${base_url}/s/dev/vapi\n`);
  expect(stderr).toContain(`twins at ${base_url}\n`);
  const health = await request("GET", `${base_url}/c/dev/vapi/sim/health`, {
    headers: { "x-api-key": api_key },
  });
  expect(health.status).toBe(200);
  twins.interrupt();
  expect((await twins.finished()).exitCode).toBe(0);
});

test("without TWINS_STRICT other names are reached as ever", async () => {
  const server = createServer((_request, response) => response.end("the world"));
  const url = await listen(server, "127.0.0.1", 0);
  const port = Number(new URL(url).port);
  // A name outside the list that leads here without any twin: the program brings its own lookup.
  const code = `require("http").get({ host: "elsewhere.test", port: ${port}, lookup: (h, o, done) => done(null, [{ address: "127.0.0.1", family: 4 }]) },
    (response) => response.pipe(process.stdout))`;
  const { stdout } = await exec([node, "-e", code]).finished();
  server.close();
  expect(stdout).toBe("the world");
});

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
