/** The event collector: `/services/collector` and what is below it. */
import { QueueFull, StoreFull } from "@offhook/log-store/store/log-store";
import type { Method, Operation, VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import { zoneOf } from "../spl/time/zone-of.ts";
import { channelOf, tokenOf } from "./access.ts";
import { type Batch, type BatchOptions, eventBatch, rawBatch } from "./batch.ts";
import { answer, CollectorRefusal, jsonResponse, notFoundResponse, refusalResponse } from "./codes.ts";
import type { CollectorTwin } from "./collector-twin.ts";
import { health, NEARLY } from "./health.ts";
import { memoizeByVersion } from "./made-of-tables.ts";
import { type CollectorSettings, collectorSettings } from "./settings.ts";

/** The vendor's own is 800 MiB, which is more than one process has to spare. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

interface CollectorRoute {
  id: string;
  method: Method;
  paths: readonly string[];
  summary: string;
  handle(
    request: VendorRequest,
    twin: CollectorTwin,
    settings: CollectorSettings,
  ): VendorResponse | Promise<VendorResponse>;
}

function routes({ id, method, paths, summary, handle }: CollectorRoute): Operation<CollectorTwin>[] {
  return paths.map((path) => ({
    id,
    method,
    path: `/services/collector${path}`,
    surface: "rest",
    summary,
    maxBodyBytes: MAX_BODY_BYTES,
    async handle(request, twin) {
      if (twin.intake.closed) return answer("shuttingDown");
      const settings = collectorSettings(twin.tables);
      // Its port is closed then; who shares one with the rest of the instance finds nothing there.
      if (settings.disabled) return notFoundResponse(404);
      try {
        return await handle(request, twin, settings);
      } catch (error) {
        if (error instanceof CollectorRefusal) return refusalResponse(error);
        // An indexer without room on its disk takes nothing from its queues, until they block.
        if (error instanceof StoreFull) return answer("busy");
        if (error instanceof QueueFull) return answer(settings.warns ? "queueFull" : "busy");
        throw error;
      }
    },
  }));
}

export const collectorOperations: readonly Operation<CollectorTwin>[] = [
  ...routes({
    id: "collector.event",
    method: "POST",
    paths: ["", "/event", "/event/1.0"],
    summary: "Store events, each an object with the event and what is known of it.",
    handle: (request, twin, settings) => collect(request, twin, settings, eventBatch),
  }),
  ...routes({
    id: "collector.raw",
    method: "POST",
    paths: ["/raw", "/raw/1.0"],
    summary: "Store the lines of a text as events.",
    handle: (request, twin, settings) => collect(request, twin, settings, rawBatch),
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
    summary: "Say whether events are taken.",
    handle: health,
  }),
];

async function collect(
  request: VendorRequest,
  twin: CollectorTwin,
  settings: CollectorSettings,
  read: (body: string, options: BatchOptions) => Batch,
): Promise<VendorResponse> {
  if (/^\s*deflate\s*$/i.test(request.headers["content-encoding"] ?? "")) return unsupported;
  const token = tokenOf(request, twin);
  const channel = channelOf(request);
  if (token.use_ack) checkSticky(request, settings);
  if (token.use_ack && channel === undefined) throw new CollectorRefusal("channelMissing");
  if (request.body.length === 0) throw new CollectorRefusal("noData");
  const nowMs = twin.clock.now();
  const acknowledged = token.use_ack ? channel : undefined;
  const { intake, channels } = twin;
  if (acknowledged !== undefined && !channels.hasRoom(token.name, acknowledged, settings.channels, nowMs)) {
    throw new CollectorRefusal(settings.warns ? "channelsFull" : "busy");
  }
  if (intake.share(settings.queueBytes) >= 1) {
    throw new CollectorRefusal(settings.warns ? "queueFull" : "busy");
  }
  const body = request.body.toString("utf8");
  const options = {
    token,
    query: request.query,
    nowMs,
    zone: zoneOf(twin.timeZone),
  };
  let batch = read(body, { ...options, indexes: declaredIndexes(twin.tables) });
  // Which indexes a dataset has brought is a question to the store, and hardly ever asked.
  if (batch.refusal?.code === "incorrectIndex") {
    batch = read(body, { ...options, indexes: await writableIndexes(twin) });
  }
  const { events, refusal } = batch;
  const crowded = await intake.during(request.body.length, async () => {
    const share = intake.share(settings.queueBytes);
    await twin.writer.write(events);
    return share > NEARLY;
  });
  if (refusal) throw refusal;
  if (acknowledged === undefined) return answer(settings.warns && crowded ? "queueNearlyFull" : "success");
  const ackId = channels.stored(token.name, acknowledged, nowMs);
  if (!settings.warns) return answer("success", { ackId });
  const nearlyFull = channels.use(settings.channels, nowMs).most > NEARLY;
  return answer(crowded ? "queueNearlyFull" : nearlyFull ? "channelsNearlyFull" : "success", { ackId });
}

/** A balancer in front of several indexers marks its clients by a cookie, for acknowledgements to be asked where they are known. */
function checkSticky({ headers }: VendorRequest, { stickyCookies }: CollectorSettings): void {
  if (stickyCookies.length === 0) return;
  const names = (headers.cookie ?? "").split(";").map((cookie) => cookie.trim().toLowerCase());
  if (names.some((name) => stickyCookies.some((marker) => name.startsWith(marker)))) return;
  throw new CollectorRefusal("notSticky");
}

/** Only gzip is understood. */
const unsupported: VendorResponse = {
  status: 415,
  headers: { "content-type": "text/html; charset=UTF-8" },
  body: "<!doctype html><html><head><title>415 Unsupported Media Type</title></head><body><h1>Unsupported Media Type</h1></body></html>\n",
};

/** The indexes of the table that are not switched off. */
const declaredIndexes = memoizeByVersion((tables): ReadonlySet<string> => {
  const rows = tables.table("indexes").all();
  return new Set(rows.flatMap(({ name, disabled }) => (disabled ? [] : [name])));
});

/** The indexes of the table that are not switched off, and those that a dataset has brought. */
export async function writableIndexes({ tables, knowledge }: CollectorTwin): Promise<ReadonlySet<string>> {
  const disabled = tables
    .table("indexes")
    .all()
    .filter((row) => row.disabled);
  const names = new Set(await knowledge.indexes());
  for (const { name } of disabled) names.delete(name);
  return names;
}

function acknowledge(request: VendorRequest, twin: CollectorTwin): VendorResponse {
  const nowMs = twin.clock.now();
  const token = tokenOf(request, twin);
  if (!token.use_ack) throw new CollectorRefusal("ackDisabled");
  const channel = channelOf(request);
  if (channel === undefined) throw new CollectorRefusal("channelMissing");
  const ids = askedIds(request.body.toString("utf8"));
  const acks = ids.map((id) => [String(id), twin.channels.ask(token.name, channel, id, nowMs)] as const);
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
