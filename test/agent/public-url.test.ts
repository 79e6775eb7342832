import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { captureLog } from "@offhook/platform/testing/log-lines";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readConfig } from "../../agent/config.ts";
import { pause } from "../../agent/deadline.ts";
import { publicUrlFor, TunnelUrl } from "../../agent/public-url.ts";
import { localtunnelOpener } from "../../agent/tunnel/localtunnel.ts";
import { loadNgrok, ngrokOpener } from "../../agent/tunnel/ngrok.ts";
import { startAgentBench } from "../support/agent-bench.ts";
import { TunnelServer } from "../support/tunnel-server.ts";
import { VoiceClient } from "../support/voice-client.ts";

const never = new AbortController().signal;
const env = { VAPI_API_KEY: "key" };

/** An agent that listens, and must not be made to listen for a tunnel. */
const parts = (ownUrl: string) => ({
  log: captureLog().log,
  ownUrl: () => ownUrl,
  openToolServer: () => Promise.reject(new Error("no tunnel is wanted")),
});

test("PUBLIC_BASE_URL is the address, and no tunnel is opened", async () => {
  const config = readConfig({ ...env, PUBLIC_BASE_URL: "https://agent.example.com/base/" });
  const publicUrl = await publicUrlFor(config, parts("http://127.0.0.1:1"));
  expect(await publicUrl.get(never)).toBe("https://agent.example.com/base");
});

test("a runtime on this machine reaches the agent without a tunnel", async () => {
  const config = readConfig({ ...env, VOICE_API_URL: "http://localhost:6100/s/dev/vapi" });
  const publicUrl = await publicUrlFor(config, parts("http://127.0.0.1:8008"));
  expect(await publicUrl.get(never)).toBe("http://127.0.0.1:8008");
});

describe("a tunnel of localtunnel", () => {
  let tunnels: TunnelServer;
  let tunnelUrl: TunnelUrl;
  const captured = captureLog();
  /** The local server cuts connections as one does that is overrun. */
  let cutting = false;
  const local = createServer(async (request, response) => {
    if (cutting) {
      request.socket.resetAndDestroy();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    response.end(`${request.method} ${request.url} ${Buffer.concat(chunks)}`);
  });
  beforeEach(async () => {
    tunnels = await TunnelServer.start();
    local.listen(0, "127.0.0.1");
    await once(local, "listening");
    const ownUrl = `http://127.0.0.1:${(local.address() as AddressInfo).port}`;
    const options = { log: captured.log, secrets: [], attempts: 3, firstPauseMs: 20 };
    tunnelUrl = new TunnelUrl(localtunnelOpener(tunnels.url, ownUrl), options);
  });
  afterEach(async () => {
    await tunnelUrl.close();
    local.close();
    local.closeAllConnections();
    await tunnels.stop();
  });

  const visit = { method: "POST", headers: { "content-type": "text/plain" }, body: "hello" };

  test("is opened on the first call, shared by all, and a request travels through it", async () => {
    expect(tunnels.handedOut).toEqual([]);
    const urls = await Promise.all([tunnelUrl.get(never), tunnelUrl.get(never)]);
    urls.push(await tunnelUrl.get(never));
    expect(new Set(urls).size).toBe(1);
    expect(tunnels.handedOut).toHaveLength(1);
    for (let round = 0; round < 5; round += 1) {
      expect(await tunnels.visit(`${urls[0]}/tool`, visit)).toEqual({
        status: 200,
        body: "POST /tool hello",
      });
    }
  });

  test("is opened again under its name when it dies", async () => {
    const url = await tunnelUrl.get(never);
    const [name = ""] = tunnels.handedOut;
    tunnels.kill(name);
    await tunnels.watched.until(() => tunnels.handedOut.length === 2, "the second tunnel");
    expect(await tunnelUrl.get(never)).toBe(url);
    expect(await tunnels.visit(`${url}/tool`, visit)).toEqual({ status: 200, body: "POST /tool hello" });
  });

  test("is given up after a few attempts when its server is not there, and tried again by the next call", async () => {
    await tunnels.stop();
    await expect(tunnelUrl.get(never)).rejects.toThrow(
      /no tunnel after 3 attempts: the tunnel server .* gave no tunnel: /,
    );
    await expect(tunnelUrl.get(never)).rejects.toThrow(/no tunnel after 3 attempts/);
    tunnels = await TunnelServer.start();
  });

  test("a server that answers 429 is asked once an attempt, then left alone, and nothing keeps asking", async () => {
    tunnels.refusal = { status: 429 };
    await expect(tunnelUrl.get(never)).rejects.toThrow(/no tunnel after 3 attempts: .* it answered 429/);
    expect(tunnels.asked).toBe(3);
    for (let call = 0; call < 20; call += 1) {
      await expect(tunnelUrl.get(never)).rejects.toThrow(/it answered 429; it is asked again in \d+ s/);
    }
    // The package's own timer would have fired before this one: it asks once a second.
    await pause(1_200, never);
    expect(tunnels.asked).toBe(3);
  });

  test("a server that says how long it wants to be left alone is not asked before", async () => {
    tunnels.refusal = { status: 503, retryAfter: "3600" };
    await expect(tunnelUrl.get(never)).rejects.toThrow(/no tunnel after 1 attempts: .* it answered 503/);
    await expect(tunnelUrl.get(never)).rejects.toThrow(/it is asked again in 600 s/);
    expect(tunnels.asked).toBe(1);
  });

  test("a server that is busy for a moment is waited for", async () => {
    tunnels.refusal = { status: 429, retryAfter: "0", times: 2 };
    expect(await tunnelUrl.get(never)).toContain("localhost");
    expect(tunnels.asked).toBe(3);
  });

  for (const answer of ["<html>", "[]", '{"id":"a","url":"ftp://x","port":0}', '{"id":"a"}']) {
    test(`a server that answers ${answer} gives no tunnel, and the error says what is wrong`, async () => {
      tunnels.refusal = { status: 200, body: answer };
      await expect(tunnelUrl.get(never)).rejects.toThrow(/its answer (is not JSON|has no usable)/);
      expect(tunnels.asked).toBe(3);
    });
  }

  test("a server that closes every connection is given up, after a bounded number of them", async () => {
    tunnels.closesConnections = true;
    await tunnelUrl.get(never).catch(() => {});
    await captured.line((line) => line.msg.includes("keeps dying"), "the end of the attempts");
    expect(tunnels.handedOut.length).toBeLessThan(12);
    await tunnelUrl.close();
  });

  test("requests that this machine cuts off cost the tunnel nothing", async () => {
    const url = await tunnelUrl.get(never);
    cutting = true;
    for (let round = 0; round < 12; round += 1) {
      await expect(tunnels.visit(`${url}/tool`, visit)).rejects.toThrow();
    }
    cutting = false;
    expect(await tunnels.visit(`${url}/tool`, visit)).toEqual({ status: 200, body: "POST /tool hello" });
    expect(tunnels.handedOut).toHaveLength(1);
  });

  test("closing while it is being opened leaves nothing", async () => {
    tunnels.refusal = { status: 200, hangs: true };
    const waiting = tunnelUrl.get(never);
    const failed = expect(waiting).rejects.toThrow("no tunnel");
    await tunnels.watched.until(() => tunnels.asked === 1, "the request for a tunnel");
    await tunnelUrl.close();
    await failed;
  });

  test("a caller who hangs up does not wait for it", async () => {
    const hungUp = new AbortController();
    const waiting = tunnelUrl.get(hungUp.signal);
    hungUp.abort(new Error("hung up"));
    await expect(waiting).rejects.toThrow("hung up");
    expect(await tunnelUrl.get(never)).toContain("localhost");
  });
});

describe("an agent whose runtime is elsewhere", () => {
  test("gives the runtime the tunnel's address, and tool calls come in through it", async () => {
    const tunnels = await TunnelServer.start();
    const bench = await startAgentBench({ remoteRuntime: true, env: { LOCALTUNNEL_HOST: tunnels.url } });
    const { runtimeCall } = await bench.call();
    const { url, headers } = runtimeCall.webhook;
    expect(url).toMatch(/^http:\/\/t0\.localhost:\d+\/tool$/);
    const body = JSON.stringify({
      message: { toolCallList: [{ id: "1", name: "echo", arguments: { text: "hi" } }] },
    });
    const answer = await tunnels.visit(url, { method: "POST", headers, body });
    expect(JSON.parse(answer.body)).toEqual({ results: [{ toolCallId: "1", result: '{"text":"hi"}' }] });
    await bench.stop();
    await tunnels.stop();
  });

  test("and whose tunnel is not to be had: callee_no_answer, and no call is created", async () => {
    const tunnels = await TunnelServer.start();
    const bench = await startAgentBench({ remoteRuntime: true, env: { LOCALTUNNEL_HOST: tunnels.url } });
    await tunnels.stop();
    const client = await VoiceClient.connect(bench.agent.url);
    expect(await client.gone()).toEqual({ code: 1011, reason: "callee_no_answer" });
    const line = await bench.captured.line((one) => one.msg === "call ended", "the end");
    expect(line.reason).toMatch(/no tunnel after 4 attempts/);
    expect(bench.runtime.createRequests).toBe(0);
    await bench.stop();
  });
});

describe("a tunnel of ngrok", () => {
  test("asked for without its package: the message says what to do, without the token", async () => {
    const config = readConfig({ ...env, NGROK_AUTHTOKEN: "token-that-is-secret" });
    const starting = publicUrlFor(config, parts("http://127.0.0.1:1"));
    await expect(starting).rejects.toThrow(/npm install @ngrok\/ngrok/);
    await expect(starting).rejects.not.toThrow(/token-that-is-secret/);
  });

  test("with its package: forwards to the agent's own port", async () => {
    const forwarded: object[] = [];
    const ngrok = await loadNgrok(async () => ({
      default: {
        forward: async (options: object) => {
          forwarded.push(options);
          return { url: () => "https://x.ngrok.app/", close: async () => {} };
        },
      },
    }));
    const tunnel = await ngrokOpener(ngrok, "token", "http://127.0.0.1:8008")(never);
    expect(tunnel.url).toBe("https://x.ngrok.app");
    expect(forwarded).toEqual([{ addr: "127.0.0.1:8008", authtoken: "token" }]);
  });
});
