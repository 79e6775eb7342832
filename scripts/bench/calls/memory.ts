/** What a call takes of memory while it runs. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import { both, type Run, type Side, stream } from "./run.ts";

const aimKilobytes = 150;
/** Calls that stream at a time: audio under way is the same before and after, and what is left is the calls' own memory. */
const batch = 50;
const batchMs = 250;
/** The heap grows to its working size with the first audio; that is not counted. */
const warmUpBatches = 4;

/** In processes of their own: memory that earlier calls left behind would be used again, and so hide what a call needs. */
export async function memoryPerCall({ plan, progress, farEnds, startProgram }: Run): Promise<Figure[]> {
  const kilobytes: Side<number> = { floor: 0, agent: 0 };
  for (const program of both({ floor: await startProgram("floor"), agent: await startProgram("agent") })) {
    for (let i = 0; i < warmUpBatches; i++) await stream(farEnds, program, batch, batchMs);
    const before = await program.child.ask("memory", {});
    for (let from = batch; from <= plan.memoryCalls; from += batch) {
      await stream(farEnds, program, batch, batchMs, from);
    }
    const after = await program.child.ask("memory", {});
    kilobytes[program.name] = (after.rssBytes - before.rssBytes) / plan.memoryCalls / 1024;
    progress(
      `memory, ${plan.memoryCalls} calls, ${program.name}: ${kilobytes[program.name].toFixed(1)} KB a call`,
    );
    await farEnds.ask("hangUp", { voiceUrl: program.voiceUrl });
    await program.child.stop();
  }
  const { floor, agent } = kilobytes;
  const aim = { kind: "at-most", limit: aimKilobytes } as const;
  return [figure({ name: "resident memory a call", unit: "KB", floor, measured: agent, value: agent, aim })];
}
