import { fileURLToPath } from "node:url";
import searchTwin from "@offhook/elasticsearch";
import type { RunningTwins } from "@offhook/platform/server/start";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadTools } from "../../tools/registry.ts";
import { type AgentBench, startAgentBench } from "../support/agent-bench.ts";
import type { StandInCall } from "../support/stand-in-runtime.ts";

const dataset = fileURLToPath(new URL("../../samples/datasets/hotline.ndjson.gz", import.meta.url));

describe("search_logs, on the shipped day of logs", () => {
  let twins: RunningTwins;
  let bench: AgentBench;
  let call: StandInCall;
  beforeAll(async () => {
    twins = await startEnvironment(
      `version: 1\nservices:\n  - name: elasticsearch\n    dataset: ${dataset}\n`,
      {
        twins: [searchTwin],
      },
    );
    const { environment } = addressesOf(twins, "elasticsearch");
    bench = await startAgentBench({ tools: await loadTools(), env: environment });
    call = (await bench.call()).runtimeCall;
  });
  afterAll(async () => {
    await bench.stop();
    await twins.stop();
  });

  async function search(args: object): Promise<unknown> {
    const toolCallList = [
      { id: `call-${JSON.stringify(args)}`, function: { name: "search_logs", arguments: args } },
    ];
    const { results } = await bench.postTools(call, { message: { toolCallList } });
    return JSON.parse(results[0]?.result ?? "");
  }

  test("says what is failing in the last hour of the logs, since when and in which release", async () => {
    expect(await search({ service: "Checkout" })).toEqual({
      service: "checkout",
      from: expect.stringMatching(/^2026-01-31T07:59:/),
      to: expect.stringMatching(/^2026-01-31T08:59:/),
      events: expect.any(Number),
      errors: 1058,
      kinds: [
        {
          error: "PoolTimeout",
          count: 1050,
          since: expect.stringMatching(/^2026-01-31T08:37:/),
          message: expect.stringMatching(
            /^no connection to payments-db within \d+ ms: pool of 5 is exhausted$/,
          ),
          release: "412",
        },
        expect.objectContaining({ error: "NullReference", count: 8 }),
      ],
    });
  });

  test("looks back as far as it is told, and no further", async () => {
    expect(await search({ service: "search", minutes: 60 })).toMatchObject({
      kinds: [{ error: "NullReference" }],
    });
    expect(await search({ service: "search", minutes: 720 })).toMatchObject({
      kinds: [{ error: "ShardTimeout" }, {}],
    });
  });

  test("a service the logs do not know is an error that names those they do", async () => {
    const error = expect.stringContaining("they hold checkout, identity, payments, search");
    expect(await search({ service: "legacy billing" })).toEqual({ error });
  });
});
