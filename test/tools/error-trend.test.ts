import { fileURLToPath } from "node:url";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import splunkTwin from "@offhook/splunk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadTools } from "../../tools/registry.ts";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import type { StandInCall } from "../support/stand-in-runtime.ts";

const dataset = fileURLToPath(new URL("../../samples/datasets/hotline.ndjson.gz", import.meta.url));

describe("error_trend, on the shipped day of logs", () => {
  let twins: RunningTwins;
  let bench: AgentBench;
  let call: StandInCall;
  let controlUrl: string;
  beforeAll(async () => {
    twins = await startEnvironment(`version: 1\nservices:\n  - name: splunk\n    dataset: ${dataset}\n`, {
      twins: [splunkTwin],
    });
    const { environment, control_url } = addressesOf(twins, "splunk");
    controlUrl = control_url;
    bench = await startAgentBench({ tools: await loadTools(), env: environment });
    call = (await bench.call()).runtimeCall;
  });
  afterAll(async () => {
    await bench.stop();
    await twins.stop();
  });

  let calls = 0;
  async function ask(args: object): Promise<unknown> {
    const toolCallList = [{ id: `call-${++calls}`, function: { name: "error_trend", arguments: args } }];
    const { results } = await bench.postTools(call, { message: { toolCallList } });
    return JSON.parse(results[0]?.result ?? "");
  }

  const control = (method: string, path: string, body?: unknown) =>
    request(method, `${controlUrl}/sim${path}`, { headers: { "x-api-key": twins.apiKey }, body });

  test("says that it is worse, by how much, and since when", async () => {
    const answer = await ask({ service: "checkout" });
    expect(answer).toMatchObject({
      service: "checkout",
      from: "2026-01-31T06:00:00.000Z",
      to: expect.stringMatching(/^2026-01-31T08:59:/),
      trend: "worse",
      last_half_hour: 1056,
      usual_half_hour: 1,
      worse_since: "2026-01-31T08:30:00.000Z",
      half_hours: Array(6).fill({
        at: expect.any(String),
        events: expect.any(Number),
        errors: expect.any(Number),
      }),
    });
  });

  test("of all services, and from another time of the day", async () => {
    expect(await ask({})).toMatchObject({ service: "all services", trend: "worse" });
    expect(await ask({ service: "identity", since: "08:00" })).toMatchObject({ half_hours: [{}, {}] });
    expect(await ask({ service: "identity", since: "09:30" })).toMatchObject({
      from: "2026-01-30T09:30:00.000Z",
    });
  });

  test("a service the logs do not know is an error", async () => {
    expect(await ask({ service: "legacy billing" })).toEqual({
      error: "the logs hold nothing of legacy billing",
    });
  });

  test("asks again when Splunk is busy, and says so when it stays busy; what it refuses it does not ask again", async () => {
    const arm = (status: number, times: number) =>
      control("POST", "/faults", { effect: "status", status, operation: "job.create", times });
    await arm(503, 2);
    expect(await ask({ service: "checkout" })).toMatchObject({ trend: "worse" });
    await arm(503, 9);
    expect(await ask({ service: "checkout" })).toEqual({
      error: expect.stringMatching(/^Splunk did not answer, asked 4 times/),
    });
    await control("DELETE", "/faults");
    await arm(403, 1);
    expect(await ask({ service: "checkout" })).toEqual({
      error: expect.stringMatching(/^Splunk answered 403: /),
    });
  });
});
