/** The live stream of a sandbox: one for everything the page shows, because a browser opens few connections to a host. */
import { effect, type Signal, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { place } from "../place.ts";
import { session } from "./session.ts";
import type { Change, RequestSummary } from "./types.ts";

export type LiveState = "connecting" | "live" | "reconnecting";

export interface LiveListener {
  request?(request: RequestSummary): void;
  change?(change: Change): void;
  /** Something may have been missed: read again. */
  gap?(): void;
}

/** What the stream does at the moment, to be shown beside whatever it feeds. */
export const liveState: Signal<LiveState> = signal("connecting");

const listeners = new Set<LiveListener>();
let source: EventSource | undefined;
let wanted = "";

/** Listens while the component is there. */
export function useLive(listener: LiveListener): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const forwarding: LiveListener = {
      request: (request) => latest.current.request?.(request),
      change: (change) => latest.current.change?.(change),
      gap: () => latest.current.gap?.(),
    };
    listeners.add(forwarding);
    connect();
    return () => {
      listeners.delete(forwarding);
    };
  }, []);
}

effect(() => {
  const { sandbox } = place.value;
  const next = session.value.state === "signed-in" ? sandbox : "";
  if (next === wanted) return;
  wanted = next;
  source?.close();
  source = undefined;
  if (listeners.size > 0) connect();
});

function connect(): void {
  if (source || wanted === "") return;
  liveState.value = "connecting";
  let opened = false;
  const stream = new EventSource(`/sandboxes/${encodeURIComponent(wanted)}/watch?requests=all&changes=true`);
  source = stream;
  stream.addEventListener("ready", () => {
    liveState.value = "live";
    if (opened) for (const listener of listeners) listener.gap?.();
    opened = true;
  });
  stream.addEventListener("request", ({ data }: MessageEvent<string>) => {
    const request = JSON.parse(data) as RequestSummary;
    for (const listener of listeners) listener.request?.(request);
  });
  stream.addEventListener("change", ({ data }: MessageEvent<string>) => {
    const change = JSON.parse(data) as Change;
    for (const listener of listeners) listener.change?.(change);
  });
  stream.addEventListener("error", () => {
    liveState.value = "reconnecting";
    // The browser gives up by itself after an answer that is no stream, as while the twins start again.
    if (stream.readyState === EventSource.CLOSED) retryLater(stream);
  });
}

const RETRY_MS = 1_000;

function retryLater(ended: EventSource): void {
  setTimeout(() => {
    if (source !== ended) return;
    source = undefined;
    connect();
    // Whatever happened meanwhile is only found by reading.
    for (const listener of listeners) listener.gap?.();
  }, RETRY_MS);
}
