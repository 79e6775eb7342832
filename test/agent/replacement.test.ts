import { expect, test } from "vitest";
import { replaceUnderCalls } from "../support/replacement/run.ts";

test("three agents are replaced one after another under calls, and no call is cut or refused", async () => {
  const report = await replaceUnderCalls({
    calls: 60,
    apartMs: 100,
    callMs: 2_000,
    shutdownDelayMs: 1_500,
    workers: 1,
  });
  const failed = report.ends.filter(({ outcome }) => outcome !== "completed");
  expect(failed).toEqual([]);
  expect(report).toMatchObject({ failedConnections: 0, openAtRuntime: 0 });
  expect(report.replaced.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  // Else the agents were replaced beside the calls, not under them.
  for (const { callsWhenStopped, connectionsSinceStopped } of report.replaced) {
    expect(callsWhenStopped).toBeGreaterThan(0);
    expect(connectionsSinceStopped).toBeGreaterThan(0);
  }
});
