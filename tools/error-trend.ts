import { setTimeout as sleep } from "node:timers/promises";
import splunkjs from "splunk-sdk";
import { z } from "zod";
import { defineTool } from "./tool.ts";

const MINUTES = 30;
/** A half hour with less data than this is left out. */
const MIN_COVERED_MS = 10 * 60_000;
/** Attempts at a busy Splunk, and the first wait between them, which doubles each time. */
const ATTEMPTS = 4;
const FIRST_WAIT_MS = 200;
const REQUEST_TIMEOUT_MS = 10_000;
/** Busy, behind a proxy that says so, or not there at all (0). */
const BUSY: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);
/** A change is at least this factor … */
const MIN_FACTOR = 1.5;
/** … and at least this many errors. */
const MIN_DIFFERENCE = 5;

const environment = z.object({
  SPLUNK_URL: z.url({
    protocol: /^https?$/,
    error: "the http:// or https:// address of Splunk's management API",
  }),
  SPLUNK_TOKEN: z.string("a token of an account that may search"),
  /** Indexes that hold the logs, as a search names them. */
  SPLUNK_INDEX: z
    .string()
    .regex(/^[\w*-]+$/, "the name of an index, or a part of it with *")
    .default("*"),
});
type Environment = z.output<typeof environment>;

const row = z.object({ _time: z.coerce.date(), events: z.coerce.number(), errors: z.coerce.number() });

/** Counts from the newest event in the logs, not from now, so that older logs work too. */
export default defineTool({
  name: "error_trend",
  description:
    "Tells whether errors are getting more or fewer since a time of the day: how many there were in each half hour, and since when it is worse.",
  parameters: z.object({
    service: z
      .string()
      .regex(/^[\w .-]{1,100}$/, "letters, digits, spaces, . and - only")
      .optional()
      .describe("Name of the service, for example checkout; all services when left out"),
    since: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "a time of the day, such as 06:00")
      .default("06:00")
      .describe("From when on, as a time of the day in UTC; this morning is 06:00"),
  }),
  environment,
  async run({ service, since }, { environment, signal }) {
    const logs = `search index=${environment.SPLUNK_INDEX}${service ? ` service.name="${service.trim()}"` : ""}`;
    const search = (query: string) => searchPatiently(environment, query, signal);
    const [newest] = await search(`${logs} | head 1 | eval at=_time | table at`);
    if (newest === undefined) throw new Error(`the logs hold nothing of ${service ?? "any service"}`);
    const to = z.object({ at: z.coerce.number() }).parse(newest).at;
    const from = startOf(to, since);
    const found = await search(
      `${logs} earliest=${from} latest=${Math.floor(to) + 1} | timechart span=${MINUTES}m count AS events, count(eval('log.level'="error")) AS errors`,
    );
    const spans = z
      .array(row)
      .parse(found)
      .map(({ _time, events, errors }) => ({ at: _time.toISOString(), events, errors }));
    return {
      service: service?.trim() ?? "all services",
      from: new Date(from * 1000).toISOString(),
      to: new Date(to * 1000).toISOString(),
      errors: spans.reduce((sum, { errors }) => sum + errors, 0),
      ...trendOf(spans.filter(({ at }) => to * 1000 - Date.parse(at) >= MIN_COVERED_MS)),
      half_hours: spans,
    };
  },
});

interface Span {
  at: string;
  events: number;
  errors: number;
}

/** Compares the last half hour with the median of those before it; finds when a worse period began. */
function trendOf(spans: readonly Span[]) {
  const last = spans.at(-1)?.errors ?? 0;
  const usual = median(spans.slice(0, -1).map(({ errors }) => errors));
  const figures = { last_half_hour: last, usual_half_hour: usual };
  if (Math.abs(last - usual) < MIN_DIFFERENCE) return { trend: "steady", ...figures };
  if (last * MIN_FACTOR < usual) return { trend: "better", ...figures };
  if (last <= usual * MIN_FACTOR) return { trend: "steady", ...figures };
  const before = spans.findLastIndex(({ errors }) => errors < usual + (last - usual) / 4);
  return { trend: "worse", ...figures, worse_since: spans[before + 1]?.at };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** The latest moment with this time of day that is not after `moment`; both in seconds. */
function startOf(moment: number, timeOfDay: string): number {
  const [hours = 0, minutes = 0] = timeOfDay.split(":").map(Number);
  const day = moment - (moment % 86_400);
  const start = day + hours * 3600 + minutes * 60;
  return start <= moment ? start : start - 86_400;
}

/** Runs a search, retrying while Splunk is busy. @returns its rows @throws Error with Splunk's messages */
async function searchPatiently(
  environment: Environment,
  query: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>[]> {
  const service = connect(environment);
  for (let attempt = 1, waitMs = FIRST_WAIT_MS; ; attempt++, waitMs *= 2) {
    signal.throwIfAborted();
    try {
      const { results } = await service.oneshotSearch(query, { output_mode: "json", count: 0 });
      return results;
    } catch (error) {
      const { status, data } = refusal.parse(error);
      const text = data?.messages?.map((message) => message.text).join("; ") ?? "nothing";
      if (!BUSY.has(status)) throw new Error(`Splunk answered ${status}: ${text}`);
      if (attempt === ATTEMPTS) throw new Error(`Splunk did not answer, asked ${ATTEMPTS} times: ${text}`);
      await sleep(waitMs, undefined, { signal });
    }
  }
}

/** What the client rejects with. */
const refusal = z.object({
  status: z.union([z.number(), z.literal("timeout").transform(() => 504)]).catch(502),
  data: z
    .object({ messages: z.array(z.object({ text: z.string() })) })
    .partial()
    .nullish()
    .catch(undefined),
});

function connect({ SPLUNK_URL, SPLUNK_TOKEN }: Environment) {
  const { protocol, hostname, port } = new URL(SPLUNK_URL);
  const service = new splunkjs.Service({
    scheme: protocol.slice(0, -1),
    host: hostname,
    port: port || (protocol === "https:" ? 443 : 80),
    sessionKey: SPLUNK_TOKEN,
    authorization: "Bearer",
    autologin: false,
    timeout: REQUEST_TIMEOUT_MS,
  });
  // The client has no option for an address with a path in it.
  service.prefix = SPLUNK_URL.replace(/(?<!\/)\/+$/, "");
  return service;
}
