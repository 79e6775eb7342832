import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as twinSide from "@offhook/platform/base/deadline";
import { probe } from "@offhook/platform/client/probe";
import { postWebhook } from "@offhook/platform/client/webhook";
import { captureLog } from "@offhook/platform/testing/log-lines";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RuntimeApi } from "../../agent/call/runtime-api.ts";
import { RuntimeCalls } from "../../agent/call/runtime-calls.ts";
import { dialRuntime } from "../../agent/call/runtime-socket.ts";
import * as agentSide from "../../agent/deadline.ts";
import { AgentMetrics } from "../../agent/metrics.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** A server that takes whatever comes and never answers. */
let mute: Server;
let url: string;
let collecting: NodeJS.Timeout;
beforeAll(async () => {
  mute = createServer(() => {}).on("upgrade", () => {});
  mute.listen(0, "127.0.0.1");
  await once(mute, "listening");
  url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  collecting = setInterval(collectGarbage, 10);
});
afterAll(() => {
  clearInterval(collecting);
  mute.closeAllConnections();
  mute.close();
});

describe("a wait with a limit ends when the garbage is collected meanwhile", () => {
  const never = () => new AbortController().signal;
  const nothing = { opened() {}, audio() {}, text() {}, gone() {} };

  test("for the call socket to open", async () => {
    const options = { timeoutMs: 300, heartbeatMs: 60_000, signal: never() };
    const dialling = dialRuntime(`${url.replace("http", "ws")}/x/transport`, nothing, options);
    await expect(dialling).rejects.toThrow("the call socket did not open within 300 ms");
  });

  test("for a call to be created", async () => {
    const api = new RuntimeApi({ url, apiKey: "key" });
    const metrics = new AgentMetrics(() => 0);
    const runtimeCalls = new RuntimeCalls({ api, metrics, createTimeoutMs: 300 });
    const creating = runtimeCalls.create({}, never(), captureLog().log);
    await expect(creating).rejects.toThrow("did not create the call within 300 ms");
    await runtimeCalls.idle();
    api.close();
  });

  test("for a webhook of a twin", async () => {
    const request = { url, headers: {}, userAgent: "x", body: "{}", timeoutMs: 300, signal: never() };
    expect(await postWebhook(request)).toEqual({ kind: "timed-out", afterMs: 300 });
  });

  test("for a callback destination", async () => {
    expect(await probe({ url, headers: {} }, never())).toMatchObject({ outcome: "timeout" });
  });
});

for (const [side, { DeadlineExceeded, withDeadline }] of Object.entries({ agentSide, twinSide })) {
  describe(`withDeadline (${side})`, () => {
    test("rejects when the time is up, even where the work heeds no signal", async () => {
      const deaf = withDeadline(new AbortController().signal, 20, () => new Promise(() => {}));
      await expect(deaf).rejects.toBeInstanceOf(DeadlineExceeded);
    });

    test("rejects with the parent's reason, before it begins or while it waits", async () => {
      const parent = new AbortController();
      const waiting = withDeadline(parent.signal, 60_000, () => new Promise(() => {}));
      parent.abort(new Error("left"));
      await expect(waiting).rejects.toThrow("left");
      await expect(withDeadline(parent.signal, 60_000, async () => "never begun")).rejects.toThrow("left");
    });

    test("says that the time was up, whatever the work makes of its signal", async () => {
      const work = (signal: AbortSignal) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("my own words")));
        });
      const late = withDeadline(new AbortController().signal, 20, work);
      await expect(late).rejects.toBeInstanceOf(DeadlineExceeded);
    });

    test("answers what the work does", async () => {
      const signal = new AbortController().signal;
      expect(await withDeadline(signal, 60_000, async () => "done")).toBe("done");
      await expect(withDeadline(signal, 60_000, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    });
  });
}

describe("linkSignals", () => {
  test("is aborted with the first of its sources, though nobody else holds it", async () => {
    const sources = [new AbortController(), new AbortController()];
    const { signal } = twinSide.linkSignals(...sources.map((source) => source.signal));
    const aborted = once(signal, "abort");
    collectGarbage();
    sources[1]?.abort(new Error("second"));
    await aborted;
    expect(signal.reason).toEqual(new Error("second"));
    const late = twinSide.linkSignals(...sources.map((source) => source.signal));
    expect(late.signal.aborted).toBe(true);
  });

  test("no longer follows once it is unlinked", () => {
    const source = new AbortController();
    const link = twinSide.linkSignals(source.signal);
    link.unlink();
    source.abort();
    expect(link.signal.aborted).toBe(false);
  });
});
