/**
 * How the event collector is. A token is looked at when it is in the address; one in a header is not (so the vendor's servers do,
 * whatever its reference says).
 */
import type { VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import { sha256 } from "../world/seed.ts";
import { answer } from "./codes.ts";
import type { CollectorTwin } from "./collector-twin.ts";
import type { CollectorSettings } from "./settings.ts";

/** From here on the collector warns, when it is set to. */
export const NEARLY = 0.8;

export async function health(
  { query }: VendorRequest,
  twin: CollectorTwin,
  settings: CollectorSettings,
): Promise<VendorResponse> {
  const { tables, intake, channels, clock } = twin;
  const token = query.get("token");
  if (token !== null) {
    const [row] = tables.table("hec_tokens").find({ token_sha256: sha256(token) });
    if (!row) return answer("healthInvalidToken");
    if (row.disabled) return answer("healthTokenDisabled");
  }
  // Without room on the disk nothing leaves the queues.
  const isStoring = (await twin.health?.())?.status === "ok";
  const queue = isStoring ? intake.share(settings.queueBytes) : 1;
  const { most, least } = channels.use(settings.channels, clock.now());
  // One full channel is enough, unless the collector is set to warn of it.
  const channelsFull = (settings.warns ? least : most) >= 1;
  if (queue >= 1) return answer(channelsFull ? "queuesFullAckUnavailable" : "queuesFull");
  if (channelsFull) return answer("ackUnavailable");
  if (settings.warns && queue > NEARLY) return answer("queueNearlyFull");
  if (settings.warns && most > NEARLY) return answer("channelsNearlyFull");
  return answer("healthy");
}
