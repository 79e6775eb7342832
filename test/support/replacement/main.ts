/** The proof of test/agent/replacement.test.ts by hand, with more calls: node --import tsx test/support/replacement/main.ts --calls 200 */
import { parseArgs } from "node:util";
import { replaceUnderCalls } from "./run.ts";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "200" },
    "apart-ms": { type: "string", default: "100" },
    "call-ms": { type: "string", default: "5000" },
    "shutdown-delay-ms": { type: "string", default: "1500" },
    workers: { type: "string", default: "1" },
  },
});
const report = await replaceUnderCalls({
  calls: Number(values.calls),
  apartMs: Number(values["apart-ms"]),
  callMs: Number(values["call-ms"]),
  shutdownDelayMs: Number(values["shutdown-delay-ms"]),
  workers: Number(values.workers),
});
const { ends, ...rest } = report;
const count = (outcome: string) => ends.filter((end) => end.outcome === outcome).length;
console.log({
  calls: ends.length,
  completed: count("completed"),
  refused: count("refused"),
  cut: count("cut"),
  framesLost: ends.reduce((lost, { framesSent, framesBack }) => lost + framesSent - framesBack, 0),
  ...rest,
});
for (const { outcome, reason } of ends) if (outcome !== "completed") console.log(outcome, reason);
