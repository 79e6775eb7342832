import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Logs when its input ends, and exits. */
const PROGRAM = `
  import { createLog, flushLog } from ${JSON.stringify(new URL("../../agent/log.ts", import.meta.url).href)};
  const log = createLog("info");
  log.info("begins");
  process.stdin.resume().on("end", async () => {
    // The first is under way at the exit, the second waits.
    log.info("ends");
    log.info("is over");
    await flushLog(log);
    process.exit(3);
  });`;

test("a process exits although nobody reads its log any more", async () => {
  const child = spawn(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), "--input-type=module", "-e", PROGRAM],
    { cwd: fileURLToPath(new URL("../..", import.meta.url)), stdio: ["pipe", "pipe", "inherit"] },
  );
  const [first] = await once(child.stdout, "data");
  expect(String(first)).toContain("begins");
  child.stdout.destroy();
  await once(child.stdout, "close");
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([3, null]);
});
