import { expect, test } from "vitest";
import { replay, scenarioNames } from "../support/replay.ts";

test.each(scenarioNames())("%s does what its file expects", async (name) => {
  const call = await replay(name);
  expect(call.failures).toEqual([]);
});
