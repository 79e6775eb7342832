/**
 * The log dataset of the incident hotline: a day of four services, with an incident hidden in it. The same bytes on every
 * machine. Release 412 of checkout takes fewer connections to the payments database; when the morning's traffic comes, it
 * runs out of them.
 */
import { createRandom } from "@offhook/platform/base/random";

const EVENTS = 50_000;
/** So many of them are customers who try to pay again. */
const RETRIES_SHARE = 0.03;
const BEGIN_MS = Date.UTC(2026, 0, 30, 9);
const DAY_MS = 24 * 60 * 60_000;
const ROLLOUT_MS = Date.UTC(2026, 0, 31, 8, 22);
const EXHAUSTED_MS = Date.UTC(2026, 0, 31, 8, 37);
/** The search index was rebuilt at night: errors that are over, and have nothing to do with the incident. */
const REBUILD_MS = { from: Date.UTC(2026, 0, 31, 2, 5), to: Date.UTC(2026, 0, 31, 2, 21) };

interface Endpoint {
  method: string;
  path: string;
  /** Milliseconds it usually takes. */
  typicalMs: number;
}

interface Service {
  name: string;
  /** Its part of the traffic. */
  share: number;
  version: string;
  hosts: number;
  endpoints: readonly Endpoint[];
}

const services: readonly Service[] = [
  {
    name: "checkout",
    share: 0.34,
    version: "411",
    hosts: 4,
    endpoints: [
      { method: "POST", path: "/api/checkout/pay", typicalMs: 240 },
      { method: "GET", path: "/api/checkout/basket", typicalMs: 35 },
      { method: "PUT", path: "/api/checkout/address", typicalMs: 60 },
    ],
  },
  {
    name: "payments",
    share: 0.22,
    version: "98",
    hosts: 3,
    endpoints: [
      { method: "POST", path: "/internal/authorisations", typicalMs: 180 },
      { method: "POST", path: "/internal/captures", typicalMs: 120 },
    ],
  },
  {
    name: "search",
    share: 0.28,
    version: "1203",
    hosts: 4,
    endpoints: [
      { method: "GET", path: "/api/search", typicalMs: 45 },
      { method: "GET", path: "/api/suggestions", typicalMs: 12 },
    ],
  },
  {
    name: "identity",
    share: 0.16,
    version: "77",
    hosts: 2,
    endpoints: [
      { method: "POST", path: "/oauth/token", typicalMs: 28 },
      { method: "GET", path: "/api/profile", typicalMs: 18 },
    ],
  },
];

interface Failure {
  status: number;
  type: string;
  message: string;
  durationMs: number;
}

/** The events, oldest first, one JSON object each. @param events as many as are shipped, unless told otherwise */
export function* logEvents(events = EVENTS): Generator<string> {
  const random = createRandom(1041);
  const retried = Math.round(events * RETRIES_SHARE);
  const requests = Array.from({ length: events - retried }, () => request(momentOfTraffic(random), random));
  const retries = Array.from({ length: retried }, () => retry(random));
  const all = [...requests, ...retries].sort((a, b) => a.atMs - b.atMs);
  for (const one of all) yield JSON.stringify(event(one, random));
}

interface Request {
  atMs: number;
  service: Service;
  endpoint: Endpoint;
}

function request(atMs: number, random: () => number): Request {
  const service = pickService(random());
  const endpoint = service.endpoints[Math.floor(random() * service.endpoints.length)] ?? never();
  return { atMs, service, endpoint };
}

function retry(random: () => number): Request {
  const [checkout = never()] = services;
  const [pay = never()] = checkout.endpoints;
  // The root: more and more of them as time goes by.
  const atMs = EXHAUSTED_MS + Math.floor(Math.sqrt(random()) * (BEGIN_MS + DAY_MS - EXHAUSTED_MS));
  return { atMs, service: checkout, endpoint: pay };
}

function event({ atMs, service, endpoint }: Request, random: () => number): object {
  const host = `${service.name}-${1 + Math.floor(random() * service.hosts)}`;
  const version = service.name === "checkout" && atMs >= ROLLOUT_MS ? "412" : service.version;
  const failure = failureOf(service, endpoint, atMs, random);
  const durationMs =
    failure?.durationMs ?? Math.round(endpoint.typicalMs * (0.5 + random() + (random() < 0.02 ? 4 : 0)));
  const status = failure?.status ?? (endpoint.method === "POST" && random() < 0.1 ? 201 : 200);
  const level = failure === undefined ? "info" : failure.status >= 500 ? "error" : "warn";
  const said =
    failure?.message ?? `${endpoint.method} ${endpoint.path} answered ${status} in ${durationMs} ms`;
  return {
    "@timestamp": new Date(atMs).toISOString(),
    service: { name: service.name, version },
    log: { level, logger: `com.shop.${service.name}.http` },
    message: said,
    host: { name: host },
    trace: { id: hex(random, 16) },
    http: { request: { method: endpoint.method }, response: { status_code: status } },
    url: { path: endpoint.path },
    event: { duration: durationMs * 1_000_000 },
    ...(failure === undefined ? {} : { error: { type: failure.type, message: failure.message } }),
    tags: ["http", random() < 0.5 ? "zone-a" : "zone-b"],
  };
}

function failureOf(
  { name }: Service,
  { path }: Endpoint,
  atMs: number,
  random: () => number,
): Failure | undefined {
  const chance = random();
  const waitedMs = 5_000 + Math.round(random() * 40);
  if (name === "checkout" && path.endsWith("/pay") && atMs >= EXHAUSTED_MS) {
    // The more of the morning has passed, the fewer payments get a connection.
    const minutes = (atMs - EXHAUSTED_MS) / 60_000;
    if (chance < Math.min(0.85, 0.15 + minutes * 0.035)) {
      const message = `no connection to payments-db within ${waitedMs} ms: pool of 5 is exhausted`;
      return { status: 503, type: "PoolTimeout", message, durationMs: waitedMs };
    }
  }
  if (name === "search" && atMs >= REBUILD_MS.from && atMs < REBUILD_MS.to && chance < 0.45) {
    const message = "shard 3 did not answer: the index is being rebuilt";
    return { status: 504, type: "ShardTimeout", message, durationMs: 2_000 };
  }
  if (name === "identity" && chance < 0.03) {
    return { status: 401, type: "InvalidToken", message: "the token has expired", durationMs: 6 };
  }
  if (name === "payments" && chance < 0.012) {
    return { status: 402, type: "CardDeclined", message: "the issuer declined the card", durationMs: 310 };
  }
  if (chance > 0.997) {
    return { status: 500, type: "NullReference", message: "unexpected null in the session", durationMs: 20 };
  }
  return undefined;
}

/** More by day than by night: the density of a cosine with its valley at three in the morning. */
function momentOfTraffic(random: () => number): number {
  for (;;) {
    const atMs = BEGIN_MS + Math.floor(random() * DAY_MS);
    const hour = (atMs % DAY_MS) / (60 * 60_000);
    if (random() < 0.55 - 0.45 * Math.cos(((hour - 3) / 24) * 2 * Math.PI)) return atMs;
  }
}

function pickService(chance: number): Service {
  let upTo = 0;
  for (const service of services) {
    upTo += service.share;
    if (chance < upTo) return service;
  }
  return services[0] ?? never();
}

function hex(random: () => number, digits: number): string {
  return Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("");
}

function never(): never {
  throw new Error("a list that is written down here is empty");
}
