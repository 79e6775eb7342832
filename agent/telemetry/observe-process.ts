/** What a process of the agent logs and exports, by its environment. */
import type { Logger } from "pino";
import { createLog } from "../log.ts";
import { LogSpans } from "./log-spans.ts";
import { readTelemetrySettings, type TelemetrySettings } from "./settings.ts";
import { NO_TELEMETRY, type Telemetry } from "./telemetry.ts";

export interface ObservedProcess {
  log: Logger;
  telemetry: Telemetry;
  logSpans: LogSpans;
}

/**
 * Creates the log and starts telemetry; when traces are exported, log lines name their span.
 * @param worker which of several processes this is
 * @throws ConfigError naming what is wrong in the environment
 */
export async function observeProcess(logLevel: string, worker?: string): Promise<ObservedProcess> {
  const logSpans = new LogSpans();
  const settings = readTelemetrySettings(process.env);
  const log = createLog(logLevel, {
    ...(worker === undefined ? {} : { worker }),
    ...(settings?.traces ? { mixin: logSpans.mixin } : {}),
  });
  return { log, telemetry: await startTelemetry(settings, log), logSpans };
}

/**
 * Starts telemetry for this process; without settings it is off, and nothing of the SDK is loaded.
 */
export async function startTelemetry(
  settings: TelemetrySettings | undefined,
  log: Logger,
): Promise<Telemetry> {
  if (settings === undefined) return NO_TELEMETRY;
  const { startSdk } = await import("./sdk.ts");
  return startSdk(settings, log);
}
