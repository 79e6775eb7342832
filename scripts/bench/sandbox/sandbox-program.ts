/** The program under measurement, in a process of its own. */
import { createServer } from "node:http";
import { cpus } from "node:os";
import { setTimeout } from "node:timers/promises";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { runScenario } from "@offhook/caller/run-scenario";
import { readScenario } from "@offhook/caller/scenario-file";
import engine from "@offhook/engine";
import { SandboxClock } from "@offhook/platform/base/clock";
import { Faults } from "@offhook/platform/faults/faults";
import { listen } from "@offhook/platform/http/listen";
import { Journal } from "@offhook/platform/journal/journal";
import { createMask } from "@offhook/platform/journal/mask";
import { startTwins } from "@offhook/platform/server/start";
import { answerQuestions } from "@offhook/platform/testing/bench/child";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import postgres from "@offhook/postgres";
import { leaseServer } from "@offhook/postgres/server/server";
import { startStatementProxy } from "@offhook/postgres/statements/proxy";
import express from "express";
import pg from "pg";
import { pino } from "pino";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "../../shared/folders.ts";
import { startHouse } from "../../shared/house.ts";
import { runAll } from "../../shared/run-all.ts";
import { cpu } from "../calls/usage.ts";
import type { SandboxQuestions } from "./questions.ts";
import rowsTwin, { answerBody } from "./rows-twin.ts";

const silent = pino({ level: "silent" });

answerQuestions<SandboxQuestions>({
  start: async ({ environmentFile }) => {
    const { baseUrl, apiKey } = await startTwins({
      environmentFile,
      twins: [engine, postgres, rowsTwin],
    });
    const bare = express().get("/rows/:id", (_request, response) => {
      response.json(answerBody);
    });
    return { baseUrl, apiKey, expressUrl: await listen(createServer(bare), "127.0.0.1", 0) };
  },

  journal: async ({ requests }) => {
    const journal = new Journal(createMask(rowsTwin), new SandboxClock());
    const headers = {
      host: "127.0.0.1:6100",
      authorization: "Bearer a-key",
      "content-type": "application/json",
      accept: "*/*",
      "user-agent": "bench",
    };
    const body = Buffer.from(JSON.stringify({ ...answerBody, text: "x".repeat(800) }));
    const answer = { status: 200, headers: { "content-type": "application/json" }, body };
    const request = {
      tier: "vendor",
      operation: "row.get",
      method: "POST",
      path: "/rows/1",
      headers,
      body,
    } as const;
    const beganAt = performance.now();
    for (let n = 0; n < requests; n++) {
      journal.record({ ...request, query: new URLSearchParams(), startedAt: performance.now() })(answer);
    }
    return { microsPerRequest: ((performance.now() - beganAt) * 1000) / requests };
  },

  statements: async ({ statements }) => {
    const lease = await leaseServer(silent);
    const url = lease.server.adminUrl;
    const journal = new Journal(createMask(postgres), new SandboxClock());
    const proxy = await startStatementProxy({ url, journal, faults: new Faults(), log: silent });
    try {
      // They take turns, so that both have the same neighbours on the machine.
      const [direct, through] = [await connected(url), await connected(proxy.url)];
      const micros: [number[], number[]] = [[], []];
      for (let n = 0; n < statements; n++) {
        micros[0].push(await timed(direct));
        micros[1].push(await timed(through));
      }
      await Promise.all([direct.end(), through.end()]);
      return { directMicros: percentile(micros[0], 0.5), proxyMicros: percentile(micros[1], 0.5) };
    } finally {
      await proxy.stop();
      await lease.release();
    }
  },

  scenarios: async ({ sandboxes, speed, spreadMs }) => {
    const house = await startHouse();
    const file = `${SCENARIOS_FOLDER}/open-incident.yaml`;
    const scenario = readScenario(file, readSampleLibrary(SAMPLES_FOLDER));
    const beganAt = performance.now();
    const cpuBefore = (await cpu()).cpuMs;
    const numbers = Array.from({ length: sandboxes }, (_, n) => n);
    const stages = await runAll(numbers, cpus().length * 2, () => house.openStage());
    const openedMs = performance.now() - beganAt;
    let atOnce = 0;
    let mostAtOnce = 0;
    const runs = await Promise.all(
      stages.map(async ({ voiceUrl, sandbox }, n) => {
        await setTimeout((spreadMs / sandboxes) * n);
        atOnce += 1;
        mostAtOnce = Math.max(mostAtOnce, atOnce);
        const run = await runScenario(scenario, { url: voiceUrl, sandbox, speed });
        atOnce -= 1;
        return run;
      }),
    );
    const wallMs = performance.now() - beganAt;
    const cpuMs = (await cpu()).cpuMs - cpuBefore;
    const rssBytes = process.memoryUsage.rss();
    await house.stop();
    return {
      passed: runs.filter(({ passed }) => passed).length,
      failures: [...new Set(runs.flatMap(({ failures }) => failures))].slice(0, 5),
      openedMs,
      wallMs,
      mostAtOnce,
      cpuMs,
      rssBytes,
    };
  },
});

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query("SELECT 1");
  return client;
}

/** Microseconds. */
async function timed(client: pg.Client): Promise<number> {
  const beganAt = performance.now();
  await client.query("SELECT $1::int AS one", [1]);
  return (performance.now() - beganAt) * 1000;
}
