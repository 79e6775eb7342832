/** Operations of the event collector: `/services/collector` and below. */
import { QueueFull, StoreFull } from "@offhook/log-store/store/log-store";
import type { Method, Operation, VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import { zoneOf } from "../spl/time/zone-of.ts";
import { channelOf, tokenOf } from "./access.ts";
import { type Batch, type BatchOptions, eventBatch, rawBatch } from "./batch.ts";
import { CollectorRefusal, codeResponse, jsonResponse, notFoundResponse, refusalResponse } from "./codes.ts";
import type { CollectorTwin } from "./collector-twin.ts";
import { health, WARNING_RATIO } from "./health.ts";

import type { CollectorSettings } from "./settings.ts";

/** The vendor's limit is 800 MiB, too much for one process. */
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
      if (twin.intake.closed) return codeResponse("shuttingDown");
      const { settings } = twin.collector;
      // splunkd closes the collector's port; on a shared port the paths are unknown.
      if (settings.disabled) return notFoundResponse(404);
      try {
        return await handle(request, twin, settings);
      } catch (error) {
        if (error instanceof CollectorRefusal) return refusalResponse(error);
        // With a full disk, an indexer's queues fill and block.
        if (error instanceof StoreFull) return codeResponse("busy");
        if (error instanceof QueueFull) return codeResponse(settings.warns ? "queueFull" : "busy");
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
  if (/^\s*deflate\s*$/i.test(request.headers["content-encoding"] ?? "")) return unsupportedEncoding;
  const token = tokenOf(request, twin);
  const channel = channelOf(request);
  if (token.use_ack) checkStickyCookie(request, settings);
  if (token.use_ack && channel === undefined) throw new CollectorRefusal("channelMissing");
  if (request.body.length === 0) throw new CollectorRefusal("noData");
  const nowMs = twin.clock.now();
  const acknowledged = token.use_ack ? channel : undefined;
  const { intake, channels } = twin;
  if (acknowledged !== undefined && !channels.hasRoom(token.name, acknowledged, settings.channels, nowMs)) {
    throw new CollectorRefusal(settings.warns ? "channelsFull" : "busy");
  }
  if (intake.fillRatio(settings.queueBytes) >= 1) {
    throw new CollectorRefusal(settings.warns ? "queueFull" : "busy");
  }
  const body = request.body.toString("utf8");
  const options = {
    token,
    query: request.query,
    nowMs,
    zone: zoneOf(twin.timeZone),
  };
  let batch = read(body, { ...options, indexes: twin.collector.declaredIndexes });
  // Indexes of the dataset are known to the store only: a query that is rarely needed.
  if (batch.refusal?.code === "incorrectIndex") {
    batch = read(body, { ...options, indexes: await writableIndexes(twin) });
  }
  const { events, refusal } = batch;
  const queueNearlyFull = await intake.track(request.body.length, async () => {
    const ratio = intake.fillRatio(settings.queueBytes);
    await twin.writer.write(events);
    return ratio > WARNING_RATIO;
  });
  if (refusal) throw refusal;
  if (acknowledged === undefined)
    return codeResponse(settings.warns && queueNearlyFull ? "queueNearlyFull" : "success");
  const ackId = channels.recordStored(token.name, acknowledged, nowMs);
  if (!settings.warns) return codeResponse("success", { ackId });
  const nearlyFull = channels.usage(settings.channels, nowMs).fullest > WARNING_RATIO;
  return codeResponse(queueNearlyFull ? "queueNearlyFull" : nearlyFull ? "channelsNearlyFull" : "success", {
    ackId,
  });
}

/** Requires the cookie of a load balancer with sticky sessions: acknowledgements are known to one indexer only. */
function checkStickyCookie({ headers }: VendorRequest, { stickyCookies }: CollectorSettings): void {
  if (stickyCookies.length === 0) return;
  const names = (headers.cookie ?? "").split(";").map((cookie) => cookie.trim().toLowerCase());
  if (names.some((name) => stickyCookies.some((marker) => name.startsWith(marker)))) return;
  throw new CollectorRefusal("notSticky");
}

/** The response to an encoding other than gzip. */
const unsupportedEncoding: VendorResponse = {
  status: 415,
  headers: { "content-type": "text/html; charset=UTF-8" },
  body: "<!doctype html><html><head><title>415 Unsupported Media Type</title></head><body><h1>Unsupported Media Type</h1></body></html>\n",
};

/** The indexes that are not disabled: those of the table, and those of the dataset. */
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
  const ids = readIds(request.body.toString("utf8"));
  const acks = ids.map(
    (id) => [String(id), twin.channels.acknowledge(token.name, channel, id, nowMs)] as const,
  );
  return jsonResponse(200, { acks: Object.fromEntries(acks) });
}

/** `{"acks": [0, 1]}`. @throws CollectorRefusal */
function readIds(body: string): number[] {
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
