/**
 * The collector's health endpoint. It checks a token in the address and ignores one in a header, as the vendor's servers do,
 * contrary to their reference.
 */
import type { VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import { sha256 } from "../world/seed.ts";
import { codeResponse } from "./codes.ts";
import type { CollectorTwin } from "./collector-twin.ts";
import type { CollectorSettings } from "./settings.ts";

/** Fill ratio above which the collector warns, with `warn_at_80`. */
export const WARNING_RATIO = 0.8;

export async function health(
  { query }: VendorRequest,
  twin: CollectorTwin,
  settings: CollectorSettings,
): Promise<VendorResponse> {
  const { tables, intake, channels, clock } = twin;
  const token = query.get("token");
  if (token !== null) {
    const [row] = tables.table("hec_tokens").find({ token_sha256: sha256(token) });
    if (!row) return codeResponse("healthInvalidToken");
    if (row.disabled) return codeResponse("healthTokenDisabled");
  }
  // A full disk blocks the queues.
  const isStoring = (await twin.health?.())?.status === "ok";
  const queue = isStoring ? intake.fillRatio(settings.queueBytes) : 1;
  const { fullest, emptiest } = channels.usage(settings.channels, clock.now());
  // One full channel counts, except with `warn_at_80`: then all have to be full.
  const channelsFull = (settings.warns ? emptiest : fullest) >= 1;
  if (queue >= 1) return codeResponse(channelsFull ? "queuesFullAckUnavailable" : "queuesFull");
  if (channelsFull) return codeResponse("ackUnavailable");
  if (settings.warns && queue > WARNING_RATIO) return codeResponse("queueNearlyFull");
  if (settings.warns && fullest > WARNING_RATIO) return codeResponse("channelsNearlyFull");
  return codeResponse("healthy");
}
