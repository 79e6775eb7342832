/** Keeps what a call left behind, within the limits of its campaign. */
import type { Query } from "./database.ts";
import type { CallRecord, Campaign, Keep } from "./records.ts";
import { insertKept, type KeptCall, reserveBytes } from "./store.ts";

/** What a worker offers of a call. */
export type Keepable = Omit<KeptCall, "omitted">;

const PARTS = ["audio", "trace", "report"] as const;

export function isKept(keep: Keep, verdict: CallRecord["verdict"]): boolean {
  return keep === "all" || (keep === "failures" && verdict !== "passed");
}

/**
 * Writes a call's report, trace and audio. What exceeds a limit is left out, the audio first, and the row says so.
 * Call it in the transaction that writes the record.
 */
export async function keepCall(
  client: Query,
  campaign: Campaign,
  record: CallRecord,
  offered: Keepable,
): Promise<void> {
  const kept: KeptCall = { ...offered, omitted: [] };
  const { callBytes, campaignBytes } = campaign.spec.keepLimits;
  for (const part of [undefined, ...PARTS]) {
    if (part !== undefined) {
      const bytes = sizeOf(kept[part]);
      if (bytes === 0) continue;
      const limit =
        totalOf(kept) > callBytes ? `${callBytes} bytes a call` : `${campaignBytes} bytes a campaign`;
      kept.omitted.push(`${part}: ${bytes} bytes were not kept, because of the limit of ${limit}`);
      kept[part] = null;
    }
    const total = totalOf(kept);
    if (total <= callBytes && (total === 0 || (await reserveBytes(client, campaign, total)))) break;
  }
  await insertKept(client, campaign.id, record, kept);
}

function totalOf(kept: KeptCall): number {
  return PARTS.reduce((sum, part) => sum + sizeOf(kept[part]), 0);
}

function sizeOf(part: unknown): number {
  if (part === null || part === undefined) return 0;
  return Buffer.isBuffer(part) ? part.length : Buffer.byteLength(JSON.stringify(part));
}
