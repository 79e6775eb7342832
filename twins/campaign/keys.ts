/** The calls of a campaign: their order, their ids, their seeds. */
import { createHash } from "node:crypto";
import type { CallKey, CampaignSpec } from "./records.ts";

type Dimensions = Pick<CampaignSpec, "scenarios" | "variants" | "repeat">;

export function countCalls({ scenarios, variants, repeat }: Dimensions): number {
  return scenarios.length * variants.length * repeat;
}

/**
 * The call at an index below `countCalls`. Repeats vary slowest, so that a campaign that is cut short has something of
 * every scenario and variant.
 */
export function callAt({ scenarios, variants }: Dimensions, index: number): CallKey {
  const scenario = scenarios[index % scenarios.length];
  const rest = Math.floor(index / scenarios.length);
  const variant = variants[rest % variants.length];
  if (scenario === undefined || variant === undefined) throw new RangeError(`no call has the index ${index}`);
  return { scenario, variant: variant.name, repeat: Math.floor(rest / variants.length) + 1 };
}

/** The id of a call's job: always the same, so that a call is never in the queue twice. */
export function jobIdOf(campaign: string, key: CallKey): string {
  const hash = digest(campaign, key);
  // A UUID of version 8: its bits are the application's (RFC 9562).
  const version = `8${hash.slice(13, 16)}`;
  const variant = `${"89ab"[Number.parseInt(hash.slice(16, 17), 16) & 3]}${hash.slice(17, 20)}`;
  return [hash.slice(0, 8), hash.slice(8, 12), version, variant, hash.slice(20, 32)].join("-");
}

/** A seed below 2³¹ for what is drawn in a call; the same for a key whoever places it, and in every campaign of a seed. */
export function seedOf(campaignSeed: number, key: CallKey): number {
  return Number.parseInt(digest(String(campaignSeed), key).slice(0, 8), 16) >>> 1;
}

function digest(scope: string, { scenario, variant, repeat }: CallKey): string {
  return createHash("sha256")
    .update(JSON.stringify([scope, scenario, variant, repeat]))
    .digest("hex");
}
