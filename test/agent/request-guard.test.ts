import { IncomingMessage, request } from "node:http";
import { connect, Socket } from "node:net";
import {
  allowedHostsSetting,
  allowedOriginsSetting,
  createAccessPolicy,
} from "@offhook/platform/http/access-policy";
import fc from "fast-check";
import { pino } from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { readConfig } from "../../agent/config.ts";
import { RequestGuard } from "../../agent/request-guard.ts";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import { TunnelServer } from "../support/tunnel-server.ts";
import { VoiceClient } from "../support/voice-client.ts";

let bench: AgentBench;
afterEach(() => bench?.stop());

/** A request as a page's browser sends it. */
function visit(url: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, async (response) => {
      let body = "";
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode ?? 0, body });
    })
      .on("error", reject)
      .end();
  });
}

const ROUTES = ["/healthz", "/readyz", "/metrics", "/voice", "/tool", "/anything"];

describe("a web page", () => {
  const FOREIGN = [
    "https://evil.example",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://evil.example:8008",
    "null",
    "file://",
    "chrome-extension://localhost",
    "http://agent.example.com.evil.example",
    "https://evil.example, http://localhost",
    "",
  ];
  for (const origin of FOREIGN) {
    test(`of the foreign origin "${origin}" can neither place a call nor use a route`, async () => {
      bench = await startAgentBench({ env: { PUBLIC_BASE_URL: "https://agent.example.com" } });
      const headers = { origin };
      await expect(VoiceClient.connect(bench.agent.url, { headers })).rejects.toThrow("403");
      for (const path of ROUTES) {
        const { status, body } = await visit(`${bench.agent.url}${path}`, headers);
        expect([path, status]).toEqual([path, 403]);
        expect(body).toContain("ALLOWED_ORIGINS");
      }
      expect(bench.runtime.createRequests).toBe(0);
    });
  }

  const OWN = [
    "http://localhost",
    "http://localhost:3000",
    "https://app.localhost",
    "http://127.0.0.1:5173",
    "http://[::1]:8008",
    "https://agent.example.com",
    "https://app.example.org",
    "https://APP.example.org",
  ];
  for (const origin of OWN) {
    test(`of this machine, of the agent's host or allowed may call: ${origin}`, async () => {
      bench = await startAgentBench({
        env: { PUBLIC_BASE_URL: "https://agent.example.com", ALLOWED_ORIGINS: "https://App.example.org" },
      });
      const { client, runtimeCall } = await bench.call({ headers: { origin } });
      client.hangUp();
      await runtimeCall.gone();
    });
  }

  test("of the twins, as the console's, may place a call of a simulation; the same call of a foreign page is refused", async () => {
    bench = await startAgentBench();
    const query = "protocol=binary&simulation=sim-1";
    const foreign = { origin: "http://127.0.0.1.evil.example:6100" };
    await expect(VoiceClient.connect(bench.agent.url, { query, headers: foreign })).rejects.toThrow(
      /403.*ALLOWED_ORIGINS/,
    );
    expect(bench.runtime.createRequests).toBe(0);
    const own = { origin: "http://127.0.0.1:6100" };
    const { client, runtimeCall } = await bench.call({ query, headers: own });
    expect(runtimeCall.request.assistant.metadata).toEqual({ simulationId: "sim-1" });
    client.hangUp();
    await runtimeCall.gone();
  });

  test("allowed is an origin, not its host with another scheme or port", async () => {
    bench = await startAgentBench({ env: { ALLOWED_ORIGINS: "https://app.example.org" } });
    for (const origin of ["http://app.example.org", "https://app.example.org:8443"]) {
      await expect(VoiceClient.connect(bench.agent.url, { headers: { origin } })).rejects.toThrow("403");
    }
  });

  test("of the origin null may call when ALLOWED_ORIGINS has it", async () => {
    bench = await startAgentBench({ env: { ALLOWED_ORIGINS: "null" } });
    expect((await visit(`${bench.agent.url}/healthz`, { origin: "null" })).status).toBe(200);
  });

  test("of any origin may call when ALLOWED_ORIGINS is *", async () => {
    bench = await startAgentBench({ env: { ALLOWED_ORIGINS: "*" } });
    expect((await visit(`${bench.agent.url}/healthz`, { origin: "null" })).status).toBe(200);
  });
});

describe("the host a request is for", () => {
  test("another name, to which a page may be rebound, is refused everywhere, its own origin notwithstanding", async () => {
    bench = await startAgentBench();
    const { port } = new URL(bench.agent.url);
    const headers = { host: `rebound.example:${port}`, origin: `http://rebound.example:${port}` };
    await expect(VoiceClient.connect(bench.agent.url, { headers })).rejects.toThrow("403");
    for (const path of ROUTES) {
      const { status, body } = await visit(`${bench.agent.url}${path}`, { host: headers.host });
      expect([path, status]).toEqual([path, 403]);
      expect(body).toContain("add rebound.example to ALLOWED_HOSTS");
    }
    const { body } = await bench.get("/metrics");
    expect(body).toContain('offhook_calls_refused_total{reason="foreign_host"} 1\n');
    expect(body).toContain(`offhook_requests_refused_total{reason="foreign_host"} ${ROUTES.length}\n`);
    const lines = bench.captured.lines.filter((line) => line.msg.includes("ALLOWED_HOSTS"));
    // As it is to be written there: without the port.
    expect(lines).toMatchObject([{ host: "rebound.example" }]);
  });

  const env = {
    PUBLIC_BASE_URL: "https://agent.example.com/base",
    ALLOWED_HOSTS: "agent, *.Internal.example",
  };
  const hosts: { host: string; status: number }[] = [
    { host: "localhost", status: 200 },
    { host: "LOCALHOST.:9", status: 200 },
    { host: "agent.localhost", status: 200 },
    { host: "10.1.2.3:8008", status: 200 },
    { host: "[fd00::1]:8008", status: 200 },
    { host: "Agent.Example.com", status: 200 },
    { host: "agent:8008", status: 200 },
    { host: "b.internal.example.", status: 200 },
    { host: "a.b.internal.example:80", status: 200 },
    { host: "internal.example", status: 403 },
    { host: "notinternal.example", status: 403 },
    { host: "agent.evil.example", status: 403 },
    { host: "10.1.2.3.evil.example", status: 403 },
    { host: "localhost@evil.example", status: 403 },
    { host: "evil.example/localhost", status: 403 },
    { host: "a b", status: 403 },
  ];
  test("own names, addresses and ALLOWED_HOSTS pass, with any port; nothing that only resembles them", async () => {
    bench = await startAgentBench({ env });
    for (const { host, status } of hosts) {
      expect({ host, status: (await visit(`${bench.agent.url}/healthz`, { host })).status }).toEqual({
        host,
        status,
      });
    }
  });

  test("no name of somebody else passes, however it is spelt, and no host breaks the server", async () => {
    bench = await startAgentBench({ env });
    const property = fc.asyncProperty(
      fc.domain(),
      fc.constantFrom("", ".", ":80", ".:1"),
      async (name, end) => {
        fc.pre(!name.endsWith(".internal.example") && name !== "agent.example.com");
        const { status } = await visit(`${bench.agent.url}/healthz`, { host: `${name}${end}` });
        expect(status).toBe(403);
      },
    );
    await fc.assert(property, { numRuns: 100 });
    const junk = fc.string({ unit: "binary-ascii" }).map((text) => text.replace(/[^\x20-\x7e]/g, ""));
    await fc.assert(
      fc.asyncProperty(junk, async (host) => {
        expect([200, 403]).toContain((await visit(`${bench.agent.url}/healthz`, { host })).status);
      }),
      { numRuns: 100 },
    );
  });

  test("ALLOWED_HOSTS=* lets every name pass", async () => {
    bench = await startAgentBench({ env: { ALLOWED_HOSTS: "*" } });
    expect((await visit(`${bench.agent.url}/healthz`, { host: "any.example" })).status).toBe(200);
    // Still no page of another host.
    const headers = { host: "any.example", origin: "https://evil.example" };
    expect((await visit(`${bench.agent.url}/healthz`, headers)).status).toBe(403);
  });

  test("a client of HTTP/1.0 that names none is answered", async () => {
    bench = await startAgentBench();
    const socket = connect(Number(new URL(bench.agent.url).port), "127.0.0.1");
    socket.write("GET /healthz HTTP/1.0\r\n\r\n");
    let answer = "";
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test("a tunnel leads to /tool and to nothing else", async () => {
  const tunnels = await TunnelServer.start();
  bench = await startAgentBench({ remoteRuntime: true, env: { LOCALTUNNEL_HOST: tunnels.url } });
  const { runtimeCall, client } = await bench.call();
  const { url, headers } = runtimeCall.webhook;
  const body = JSON.stringify({
    message: { toolCallList: [{ id: "1", name: "echo", arguments: { text: "x" } }] },
  });
  expect((await tunnels.visit(url, { method: "POST", headers, body })).status).toBe(200);
  const foreign = { ...headers, origin: "https://evil.example" };
  expect((await tunnels.visit(url, { method: "POST", headers: foreign, body })).status).toBe(403);
  for (const path of ["/metrics", "/healthz", "/readyz", "/voice", "/"]) {
    const upgrade = { connection: "Upgrade", upgrade: "websocket" };
    for (const more of [{}, upgrade]) {
      const answer = await tunnels.visit(new URL(path, url).href, { method: "GET", headers: more, body: "" });
      expect([path, answer.status]).toEqual([path, 404]);
    }
  }
  client.hangUp();
  await runtimeCall.gone();
  await bench.agent.stop();
  await tunnels.stop();
});

describe("npm run dev gives agent and twins the same two lists", () => {
  const log = pino({ level: "silent" });
  const label = fc.constantFrom("a", "b", "agent", "my_service");
  const hostname = fc
    .array(label, { minLength: 1, maxLength: 3 })
    .map((labels) => [...labels, "x"].join("."));
  const port = fc.constantFrom("", ":8008", ".");
  const allowedHost = fc.oneof(
    fc.tuple(fc.constantFrom("", ".", "*.", "*", "x.*."), hostname, port).map((parts) => parts.join("")),
    fc.constantFrom("*", "10.0.0.1", "http://a.x", "a.x/", "**", "", "[::1]"),
  );
  const origin = fc.tuple(fc.constantFrom("http://", "https://"), hostname, fc.constantFrom("", ":8443"));
  const allowedOrigin = fc.oneof(
    origin.map((parts) => parts.join("")),
    fc.constantFrom("*", "null", "a.x", "https://*.x", "https://a.x:443", "http://a.x/"),
  );

  interface Request {
    host: string;
    origin: string | undefined;
  }

  function incoming({ host, origin }: Request): IncomingMessage {
    const message = new IncomingMessage(new Socket());
    message.headers = { host, ...(origin === undefined ? {} : { origin }) };
    return message;
  }

  /** `undefined`: the lists are refused. So below. */
  function agentRefuses(hosts: string, origins: string, asked: Request): boolean | undefined {
    try {
      const env = { VAPI_API_KEY: "key", ALLOWED_HOSTS: hosts, ALLOWED_ORIGINS: origins };
      return new RequestGuard(readConfig(env), log).refusalOf(incoming(asked)) !== undefined;
    } catch {
      return undefined;
    }
  }

  function twinsRefuse(hosts: string, origins: string, asked: Request): boolean | undefined {
    const allowedHosts = allowedHostsSetting.safeParse(hosts).data;
    const allowedOrigins = allowedOriginsSetting.safeParse(origins).data;
    if (allowedHosts === undefined || allowedOrigins === undefined) return undefined;
    const policy = createAccessPolicy({
      ownHost: "127.0.0.1",
      isTwinName: () => false,
      allowedHosts,
      allowedOrigins,
      log,
    });
    return policy.refuse(incoming(asked)) !== undefined;
  }

  test("both take the same words, and mean the same", () => {
    const pages = fc.oneof(
      fc.constant(undefined),
      fc.constant("null"),
      origin.map((parts) => parts.join("")),
    );
    const asked = fc.record({ host: fc.tuple(hostname, port).map((parts) => parts.join("")), origin: pages });
    fc.assert(
      fc.property(
        fc.array(allowedHost, { maxLength: 2 }).map((list) => list.join(", ")),
        fc.array(allowedOrigin, { maxLength: 2 }).map((list) => list.join(" ")),
        asked,
        (hosts, origins, one) => {
          expect(twinsRefuse(hosts, origins, one)).toBe(agentRefuses(hosts, origins, one));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test.each([
    ["ALLOWED_HOSTS", "agent:8008"],
    ["ALLOWED_HOSTS", "http://agent"],
    ["ALLOWED_HOSTS", "a.*.example.com"],
    ["ALLOWED_ORIGINS", "https://*.example.com"],
    ["ALLOWED_ORIGINS", "http://localhost:3000/"],
    ["ALLOWED_ORIGINS", "app.example.com"],
  ])("%s=%s, which could never match, is refused by both", (variable, value) => {
    const setting = variable === "ALLOWED_HOSTS" ? allowedHostsSetting : allowedOriginsSetting;
    expect(setting.safeParse(value).error?.issues[0]?.message).toMatch(/^must be .*such as/);
    expect(() => readConfig({ VAPI_API_KEY: "key", [variable]: value })).toThrow(/must be .*such as/);
  });
});
