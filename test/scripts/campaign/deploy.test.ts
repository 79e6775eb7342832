/** The manifests of campaign workers agree with the command and the tables that they name. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { CALL_LIMITS } from "@offhook/caller/call-report";
import { specSchema } from "@offhook/campaign/records";
import { CampaignStore } from "@offhook/campaign/store";
import { leaseServer } from "@offhook/postgres/server/server";
import { pino } from "pino";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { readCommandLine } from "../../../scripts/campaign/options.ts";
import { PROJECT } from "../../../scripts/shared/folders.ts";

const folder = path.join(PROJECT, "agent/deploy/campaign");
const read = (file: string) => parse(readFileSync(path.join(folder, file), "utf8"));

const container = z.object({ args: z.array(z.string()), env: z.array(z.object({ name: z.string() })) });
const podSpec = z.object({ terminationGracePeriodSeconds: z.number(), containers: z.tuple([container]) });
const deployment = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({ template: z.object({ spec: podSpec }) }),
});
const trigger = z.object({
  type: z.literal("postgresql"),
  metadata: z.object({ connectionFromEnv: z.string(), query: z.string(), targetQueryValue: z.string() }),
});
const scaledObject = z.object({
  spec: z.object({ scaleTargetRef: z.object({ name: z.string() }), triggers: z.tuple([trigger]) }),
});

const worker = deployment.parse(read("deployment.yaml"));
const { terminationGracePeriodSeconds, containers } = worker.spec.template.spec;
const [{ args, env }] = containers;
const { scaleTargetRef, triggers } = scaledObject.parse(read("scaled-object.yaml")).spec;
const [{ metadata }] = triggers;

test("a worker is started with options that it knows, and has time to finish its longest call", () => {
  expect(readCommandLine(["worker", ...args])).toMatchObject({ command: "worker" });
  expect(terminationGracePeriodSeconds * 1000).toBeGreaterThan(CALL_LIMITS.durationMs);
});

test("workers are scaled by a query that counts the calls without a verdict", async () => {
  expect(scaleTargetRef.name).toBe(worker.metadata.name);
  expect(env.map(({ name }) => name)).toContain(metadata.connectionFromEnv);
  expect(Number(metadata.targetQueryValue)).toBeGreaterThan(0);
  const server = await leaseServer(pino({ level: "silent" }));
  const store = await CampaignStore.open(server.server.adminUrl);
  const count = async () => (await store.pool.query(metadata.query)).rows.map((row) => Object.values(row));
  try {
    const [[before] = []] = await count();
    const spec = specSchema.parse({ scenarios: ["one"], variants: [{ name: "v" }], repeat: 7 });
    const campaign = await store.createCampaign({
      name: "scaled",
      spec,
      scenarios: new Map([["one", "text"]]),
    });
    expect(await count()).toEqual([[String(Number(before) + 7)]]);
    await store.cancelCampaign(campaign.id);
    expect(await count()).toEqual([[before]]);
  } finally {
    await store.close();
    await server.release();
  }
});
