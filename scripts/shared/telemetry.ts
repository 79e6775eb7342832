/** Traces of the programs that run a caller, or several parts in one process. */
import { startTelemetry } from "@offhook/platform/telemetry/start";
import type { Telemetry } from "@offhook/platform/telemetry/telemetry";
import { type Logger, pino } from "pino";
import { startTelemetry as startAgentTelemetry } from "../../agent/telemetry/observe-process.ts";
import { readTelemetrySettings } from "../../agent/telemetry/settings.ts";
import type { HouseTelemetry } from "./house.ts";

/** Tracing of the parts of a process, each under a name of its own. */
export interface PartsTelemetry extends HouseTelemetry {
  caller: Telemetry;
  /** Exports what is left; to be called when the parts have stopped. */
  stop(): Promise<void>;
}

/** Complaints go to standard error, one a line. */
function complaintsLog(): Logger {
  return pino({ level: "warn", base: null }, pino.destination({ dest: 2, sync: true }));
}

/** Starts the caller's tracing, if the environment names an endpoint. @throws Error naming a variable that is wrong */
export function startCallerTelemetry(): Promise<Telemetry> {
  return startTelemetry("offhook-caller", complaintsLog());
}

/** Starts tracing for twins, agent and caller in one process. @throws Error naming a variable that is wrong */
export async function startPartsTelemetry(): Promise<PartsTelemetry> {
  const log = complaintsLog();
  const agent = await startAgentTelemetry(readTelemetrySettings(process.env), log);
  const twins = await startTelemetry("offhook-twins", log);
  const caller = await startTelemetry("offhook-caller", log);
  return {
    agent,
    twins,
    caller,
    stop: async () => {
      await Promise.all([agent.stop(), twins.stop(), caller.stop()]);
    },
  };
}
