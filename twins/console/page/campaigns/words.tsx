/** Small parts of the pages of campaigns. */
import { useEffect } from "preact/hooks";
import type { Resource } from "../api/resource.ts";
import type { CallRow, CampaignSummary, Rate } from "./types.ts";

const POLL_MS = 2_000;

/** Reads again every two seconds while that may bring something and somebody looks. */
export function usePolling({ reload }: Pick<Resource<unknown>, "reload">, changes: boolean): void {
  useEffect(() => {
    if (!changes) return;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [changes, reload]);
}

/** `97.5 % (93.1–99.2)`. */
export function rateText(rate: Rate | null): string {
  if (rate === null) return "—";
  const [value, low, high] = [rate.value, rate.low, rate.high].map((share) =>
    (share * 100).toFixed(1).replace(/\.0$/, ""),
  );
  return `${value} % (${low}–${high})`;
}

const TONES = {
  passed: "good",
  failed: "bad",
  error: "warn",
  running: "accent",
  ended: "",
  cancelled: "warn",
} as const;

/** A verdict, or the state of a campaign. */
export function StateTag({ state }: { state: CallRow["verdict"] | CampaignSummary["state"] }) {
  return <span class={`tag ${TONES[state]}`}>{state === "error" ? "not judged" : state}</span>;
}
