/**
 * The far ends of the calls: every caller and the voice runtime, in one process, so that what a frame carries (the time it
 * left) and the time it arrives come from the same clock, and the program between them has a process to itself.
 */
import { answerQuestions } from "@offhook/platform/testing/bench/child";
import { startOtlpReceiver } from "@offhook/platform/testing/otlp-receiver";
import { CallerPool } from "./callers.ts";
import type { FarEndsQuestions } from "./questions.ts";
import { StandInRuntime } from "./runtime.ts";
import { streamBothWays } from "./stream.ts";
import { postToolCalls } from "./tool-load.ts";

const runtime = new StandInRuntime();
const pools = new Map<string, CallerPool>();

function poolOf(voiceUrl: string): CallerPool {
  const pool = pools.get(voiceUrl) ?? new CallerPool(voiceUrl, runtime);
  pools.set(voiceUrl, pool);
  return pool;
}

answerQuestions<FarEndsQuestions>({
  listen: async () => ({ runtimeUrl: await runtime.listen(), collectorUrl: (await startOtlpReceiver()).url }),
  open: async ({ voiceUrl, calls }) => {
    await poolOf(voiceUrl).grow(calls);
    return null;
  },
  stream: ({ voiceUrl, from, calls, durationMs }) =>
    streamBothWays(poolOf(voiceUrl).calls.slice(from, from + calls), durationMs),
  setUp: async ({ voiceUrl, calls }) => ({ beyondRuntimeMs: await poolOf(voiceUrl).timeSetUps(calls) }),
  setUpAtRate: ({ voiceUrl, calls, perSecond }) => poolOf(voiceUrl).timeSetUpsAtRate(calls, perSecond),
  hangUp: async ({ voiceUrl }) => {
    await poolOf(voiceUrl).close();
    return null;
  },
  renew: async ({ voiceUrl, calls }) => {
    await poolOf(voiceUrl).renew(calls);
    return null;
  },
  tool: postToolCalls,
});
