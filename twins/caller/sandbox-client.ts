/**
 * What the caller's side asks of the twins: simulations at the engine, scripts and transcripts at the runtime, rows at
 * the database. Bodies: the control plane's `/sim/data` and the engine's vendor API.
 */
import { z } from "zod";
import { WatchStream } from "./watch-stream.ts";

export interface SandboxAddress {
  /** The gateway, `http://127.0.0.1:6100`. */
  baseUrl: string;
  /** Key of the control plane. */
  apiKey: string;
  /** Default `dev`. */
  sandbox?: string;
}

/** The twins a call is watched through. */
export type Service = "vapi" | "engine" | "postgres";

/** A twin that could not be asked; the message says which, what came back, and what to do. */
export class SandboxError extends Error {
  override name = "SandboxError";
}

const page = z.object({ rows: z.array(z.record(z.string(), z.unknown())), total: z.number() });
const refusal = z.object({
  error: z.object({
    message: z.string(),
    problems: z
      .array(z.looseObject({ rule: z.string(), field: z.string().optional(), column: z.string().optional() }))
      .optional(),
  }),
});

const callRow = z.object({ id: z.string(), status: z.string(), ended_reason: z.string().nullish() });
const messageRow = z.object({
  call_id: z.string(),
  simulation_id: z.string().nullish(),
  position: z.number(),
  role: z.enum(["user", "assistant", "tool_call", "tool_result"]),
  text: z.string(),
  name: z.string().nullish(),
  arguments: z.record(z.string(), z.unknown()).nullish(),
  tool_call_id: z.string().nullish(),
  start_ms: z.number().nullish(),
  end_ms: z.number().nullish(),
});
const engineEvent = z.object({
  service: z.string(),
  event_type: z.string(),
  data: z.record(z.string(), z.unknown()),
});

/** A call as the runtime knows it. */
export type RuntimeCall = z.infer<typeof callRow>;
/** Something said or done in a call, as the runtime knows it; times in the call's audio time. */
export type RuntimeMessage = z.infer<typeof messageRow>;
/** `total` counts all of them; `rows` are the first thousand. */
export type DatabaseRows = z.infer<typeof page>;
export type EngineEvent = z.infer<typeof engineEvent>;

/** What happens in one simulation, as it happens. */
export interface SimulationListener {
  message?(message: RuntimeMessage): void;
  call?(call: RuntimeCall): void;
  event?(event: EngineEvent): void;
}

const REQUEST_TIMEOUT_MS = 10_000;
const PAGE_ROWS = 1_000;
const SERVICES: readonly Service[] = ["vapi", "engine", "postgres"];

export class SandboxClient {
  readonly #address: Required<SandboxAddress>;
  readonly #services: ReadonlySet<Service>;
  readonly #streams: WatchStream[];
  readonly #listeners = new Map<string, SimulationListener>();

  /** Finds out which twins there are and watches them. @throws SandboxError */
  static async connect(address: SandboxAddress): Promise<SandboxClient> {
    const full = { sandbox: "dev", ...address, baseUrl: address.baseUrl.replace(/\/+$/, "") };
    const present = await Promise.all(SERVICES.map((service) => isServed(full, service)));
    const client = new SandboxClient(full, new Set(SERVICES.filter((_, index) => present[index])));
    await Promise.all(client.#streams.map((stream) => stream.ready));
    return client;
  }

  private constructor(address: Required<SandboxAddress>, services: ReadonlySet<Service>) {
    this.#address = address;
    this.#services = services;
    this.#streams = (["vapi", "engine"] as const)
      .filter((service) => services.has(service))
      .map((service) => {
        const url = `${controlUrl(address, service)}/sim/watch`;
        return new WatchStream(url, keyHeader(address), ({ table, row }) => this.#changed(table, row));
      });
  }

  has(service: Service): boolean {
    return this.#services.has(service);
  }

  /** @returns the simulation's id */
  async createSimulation(scenario: string): Promise<string> {
    const body = await this.#ask("POST", `${this.#vendorUrl("engine")}/simulations`, { scenario });
    return z.object({ id: z.string() }).parse(body).id;
  }

  async addScript(simulationId: string, rules: unknown): Promise<void> {
    const data = { scripts: [{ simulation_id: simulationId, rules }] };
    await this.#ask("POST", `${controlUrl(this.#address, "vapi")}/sim/data`, { data });
  }

  async removeScript(simulationId: string): Promise<void> {
    const body = { entity_type: "scripts", key: simulationId };
    await this.#ask("DELETE", `${controlUrl(this.#address, "vapi")}/sim/data`, body);
  }

  async calls(simulationId: string): Promise<RuntimeCall[]> {
    return z.array(callRow).parse((await this.#rows("vapi", "calls", { simulation_id: simulationId })).rows);
  }

  /** What was said and done, in order. */
  async messages(simulationId: string): Promise<RuntimeMessage[]> {
    const { rows } = await this.#rows("vapi", "messages", { simulation_id: simulationId });
    return z
      .array(messageRow)
      .parse(rows)
      .sort((one, other) => one.position - other.position);
  }

  async events(simulationId: string): Promise<EngineEvent[]> {
    const url = `${this.#vendorUrl("engine")}/simulations/${encodeURIComponent(simulationId)}/events`;
    return z.object({ events: z.array(engineEvent) }).parse(await this.#ask("GET", url)).events;
  }

  /** Rows of a table of the database that have these values. */
  databaseRows(table: string, where: Record<string, string>): Promise<DatabaseRows> {
    return this.#rows("postgres", table, where);
  }

  /** Listens to one simulation until the returned function is called. */
  listen(simulationId: string, listener: SimulationListener): () => void {
    this.#listeners.set(simulationId, listener);
    return () => this.#listeners.delete(simulationId);
  }

  close(): void {
    for (const stream of this.#streams) stream.close();
  }

  #changed(table: string, row: Record<string, unknown> | undefined): void {
    const listener = this.#listeners.get(String(row?.simulation_id));
    if (listener === undefined) return;
    if (table === "messages") listener.message?.(messageRow.parse(row));
    if (table === "calls") listener.call?.(callRow.parse(row));
    if (table === "events") listener.event?.(engineEvent.parse(row));
  }

  async #rows(service: Service, table: string, where: Record<string, string>, limit = PAGE_ROWS) {
    const query = new URLSearchParams({ ...where, entity_type: table, limit: String(limit) });
    return page.parse(await this.#ask("GET", `${controlUrl(this.#address, service)}/sim/data?${query}`));
  }

  #vendorUrl(service: Service): string {
    return `${this.#address.baseUrl}/s/${this.#address.sandbox}/${service}`;
  }

  async #ask(method: string, url: string, body?: unknown): Promise<unknown> {
    // The key goes to the control plane alone.
    const key = url.startsWith(`${this.#address.baseUrl}/c/`) ? keyHeader(this.#address) : {};
    const response = await request(url, {
      method,
      headers: { ...key, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok) return answer;
    throw new SandboxError(`${method} ${new URL(url).pathname}: ${explain(response.status, answer)}`);
  }
}

async function isServed(address: Required<SandboxAddress>, service: Service): Promise<boolean> {
  const response = await request(`${controlUrl(address, service)}/sim/health`, {
    headers: keyHeader(address),
  });
  await response.body?.cancel();
  if (response.status === 401) {
    throw new SandboxError(
      `the twins at ${address.baseUrl} do not accept the key: give theirs with --key or SANDBOX_API_KEY`,
    );
  }
  return response.ok;
}

async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    const { origin } = new URL(url);
    throw new SandboxError(`no answer from the twins at ${origin} (${cause}): start them with npm run dev`);
  }
}

function controlUrl({ baseUrl, sandbox }: Required<SandboxAddress>, service: Service): string {
  return `${baseUrl}/c/${sandbox}/${service}`;
}

function keyHeader({ apiKey }: Required<SandboxAddress>): Record<string, string> {
  return { "x-api-key": apiKey };
}

function explain(status: number, answer: unknown): string {
  const parsed = refusal.safeParse(answer);
  if (!parsed.success) return `HTTP ${status}`;
  const { message, problems = [] } = parsed.data.error;
  const details = problems.map(({ rule, column, field }) => `\n  ${column ?? field ?? ""} ${rule}`);
  return `HTTP ${status}: ${message}${details.join("")}`;
}
