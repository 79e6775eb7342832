/** The event collector: `/services/collector` and what is below it. */
import { QueueFull } from "../../datasets/store/log-store.ts";
import type { Method, Operation, VendorRequest, VendorResponse } from "../../sandbox/operation.ts";
import type { LogQueryTwin } from "../log-query-twin.ts";
import { zoneOf } from "../spl/time/zone-of.ts";
import { channelOf, tokenOf } from "./access.ts";
import { type Batch, type BatchOptions, eventBatch, rawBatch } from "./batch.ts";
import { answer, CollectorRefusal, jsonResponse, refusalAnswer } from "./codes.ts";

/** The vendor's own is 800 MiB, which is more than one process has to spare. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

interface CollectorRoute {
  id: string;
  method: Method;
  paths: readonly string[];
  summary: string;
  handle(request: VendorRequest, twin: LogQueryTwin): VendorResponse | Promise<VendorResponse>;
}

function routes({ id, method, paths, summary, handle }: CollectorRoute): Operation<LogQueryTwin>[] {
  return paths.map((path) => ({
    id,
    method,
    path: `/services/collector${path}`,
    surface: "rest",
    summary,
    maxBodyBytes: MAX_BODY_BYTES,
    async handle(request, twin) {
      try {
        return await handle(request, twin);
      } catch (error) {
        if (error instanceof CollectorRefusal) return refusalAnswer(error);
        if (error instanceof QueueFull) return answer("busy");
        throw error;
      }
    },
  }));
}

export const collectorOperations: readonly Operation<LogQueryTwin>[] = [
  ...routes({
    id: "collector.event",
    method: "POST",
    paths: ["", "/event", "/event/1.0"],
    summary: "Store events, each an object with the event and what is known of it.",
    handle: (request, twin) => collect(request, twin, eventBatch),
  }),
  ...routes({
    id: "collector.raw",
    method: "POST",
    paths: ["/raw", "/raw/1.0"],
    summary: "Store the lines of a text as events.",
    handle: (request, twin) => collect(request, twin, rawBatch),
  }),
  ...routes({
    id: "collector.ack",
    method: "POST",
    paths: ["/ack", "/ack/1.0"],
    summary: "Say which requests have been stored.",
    handle: acknowledge,
  }),
  ...routes({
    id: "collector.health",
    method: "GET",
    paths: ["/health", "/health/1.0"],
    summary: "Say that events are taken.",
    // Whoever asks: the token is not looked at.
    handle: () => answer("healthy"),
  }),
];

async function collect(
  request: VendorRequest,
  twin: LogQueryTwin,
  read: (body: string, options: BatchOptions) => Batch,
): Promise<VendorResponse> {
  if (/^\s*deflate\s*$/i.test(request.headers["content-encoding"] ?? "")) return unsupported;
  const token = tokenOf(request, twin);
  const channel = channelOf(request);
  if (token.use_ack && channel === undefined) throw new CollectorRefusal("channelMissing");
  if (request.body.length === 0) throw new CollectorRefusal("noData");
  if (channel !== undefined && !twin.channels.hasRoom(token.name, channel)) {
    throw new CollectorRefusal("channelsFull");
  }
  const body = request.body.toString("utf8");
  const options = {
    token,
    query: request.query,
    nowMs: twin.clock.now(),
    zone: zoneOf(twin.timeZone),
  };
  let batch = read(body, { ...options, indexes: declaredIndexes(twin) });
  // Which indexes a dataset has brought is a question to the store, and hardly ever asked.
  if (batch.refusal?.code === "incorrectIndex") {
    batch = read(body, { ...options, indexes: await writableIndexes(twin) });
  }
  const { events, refusal } = batch;
  await twin.writer.write(events);
  if (refusal) throw refusal;
  if (!token.use_ack || channel === undefined) return answer("success");
  return answer("success", { ackId: twin.channels.stored(token.name, channel) });
}

/** Only gzip is understood. */
const unsupported: VendorResponse = {
  status: 415,
  headers: { "content-type": "text/html; charset=UTF-8" },
  body: "<!doctype html><html><head><title>415 Unsupported Media Type</title></head><body><h1>Unsupported Media Type</h1></body></html>\n",
};

/** The indexes of the table that are not switched off. */
function declaredIndexes({ tables }: LogQueryTwin): ReadonlySet<string> {
  const rows = tables.table("indexes").all();
  return new Set(rows.flatMap(({ name, disabled }) => (disabled ? [] : [name])));
}

/** The indexes of the table that are not switched off, and those that a dataset has brought. */
async function writableIndexes({ tables, knowledge }: LogQueryTwin): Promise<ReadonlySet<string>> {
  const disabled = tables
    .table("indexes")
    .all()
    .filter((row) => row.disabled);
  const names = new Set(await knowledge.indexes());
  for (const { name } of disabled) names.delete(name);
  return names;
}

function acknowledge(request: VendorRequest, twin: LogQueryTwin): VendorResponse {
  const token = tokenOf(request, twin);
  if (!token.use_ack) throw new CollectorRefusal("ackDisabled");
  const channel = channelOf(request);
  if (channel === undefined) throw new CollectorRefusal("channelMissing");
  const ids = askedIds(request.body.toString("utf8"));
  const acks = ids.map((id) => [String(id), twin.channels.ask(token.name, channel, id)] as const);
  return jsonResponse(200, { acks: Object.fromEntries(acks) });
}

/** `{"acks": [0, 1]}`. @throws CollectorRefusal */
function askedIds(body: string): number[] {
  if (body.trim() === "") throw new CollectorRefusal("noData");
  const ids = readJson(body);
  if (Array.isArray(ids) && ids.every((id): id is number => Number.isSafeInteger(id) && id >= 0)) return ids;
  throw new CollectorRefusal("invalidFormat");
}

function readJson(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && "acks" in value ? value.acks : undefined;
  } catch {
    throw new CollectorRefusal("invalidFormat");
  }
}
