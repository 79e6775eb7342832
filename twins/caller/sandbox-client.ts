/**
 * The caller's client of the twins: simulations of the engine, scripts and transcripts of the runtime, rows of the
 * database. Uses the control plane's `/sim/data` and the engine's vendor API.
 */
import { z } from "zod";
import { ask, keyHeader, request, type SandboxAddress, SandboxError } from "./ask.ts";
import { WatchStream } from "./watch-stream.ts";

export { type SandboxAddress, SandboxError };

/** The twins through which a call is observed. */
export type Service = "vapi" | "engine" | "postgres";

const page = z.object({ rows: z.array(z.record(z.string(), z.unknown())), total: z.number() });
const callRow = z.object({ id: z.string(), status: z.string(), ended_reason: z.string().nullish() });
const messageRow = z.object({
  call_id: z.string(),
  simulation_id: z.string().nullish(),
  position: z.number(),
  role: z.enum(["user", "assistant", "tool_call", "tool_result", "unrecognised"]),
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
const eventPage = z.object({ events: z.array(engineEvent), total: z.number() });

const consoleCode = z.object({ code: z.string() });
const requestRecord = z.looseObject({ seq: z.number(), method: z.string(), path: z.string() });
const requestPage = z.object({ requests: z.array(requestRecord), newest_seq: z.number() });
const traceEntry = z.looseObject({
  at: z.string(),
  offset_ms: z.number(),
  source: z.enum(["agent", "vendor", "speech"]),
  service: z.string(),
});

/** A request to a twin, as in `/sim/requests`. */
export type RequestRecord = z.infer<typeof requestRecord>;
/** A line of the engine's trace; further members depend on its source. */
export type TraceLine = z.infer<typeof traceEntry>;
/** The runtime's row of a call. */
export type RuntimeCall = z.infer<typeof callRow>;
/** The runtime's row of an utterance or tool call; in media time. */
export type RuntimeMessage = z.infer<typeof messageRow>;
/** `total` counts all matching rows; `rows` has the first thousand. */
export type DatabaseRows = z.infer<typeof page>;
export type EngineEvent = z.infer<typeof engineEvent>;

/** Receives the changes of one simulation as they happen. */
export interface SimulationListener {
  message?(message: RuntimeMessage): void;
  call?(call: RuntimeCall): void;
  event?(event: EngineEvent): void;
}

const PAGE_ROWS = 1_000;
const SERVICES: readonly Service[] = ["vapi", "engine", "postgres"];

export class SandboxClient {
  readonly #address: Required<SandboxAddress>;
  readonly #services: ReadonlySet<Service>;
  readonly #streams: WatchStream[];
  readonly #listeners = new Map<string, SimulationListener>();
  /** What `withdraw` has to undo when a run is cut short. */
  readonly #cleanup = {
    faults: new Map<string, string>(),
    simulations: new Set<string>(),
    scripts: new Set<string>(),
  };

  /** Discovers the twins and watches them. @throws SandboxError */
  static async connect(address: SandboxAddress): Promise<SandboxClient> {
    const full = { sandbox: "dev", ...address, baseUrl: address.baseUrl.replace(/(?<!\/)\/+$/, "") };
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
        return new WatchStream(url, keyHeader(address), ({ table, row }) => this.#notifyListener(table, row));
      });
  }

  has(service: Service): boolean {
    return this.#services.has(service);
  }

  /** @returns the simulation's id */
  async createSimulation(scenario: string, metadata: Record<string, unknown> = {}): Promise<string> {
    const given = { scenario, metadata };
    const body = await this.#ask("POST", `${this.#vendorUrl("engine")}/simulations`, given);
    const { id } = z.object({ id: z.string() }).parse(body);
    this.#cleanup.simulations.add(id);
    return id;
  }

  /** Ends a simulation; later requests to twins are not in its trace. */
  async endSimulation(simulationId: string): Promise<void> {
    this.#cleanup.simulations.delete(simulationId);
    await this.#ask("POST", `${this.#simulationUrl(simulationId)}/end`);
  }

  /**
   * Adds the caller's own event to a simulation. The control plane takes it, so it is no request that a scenario may
   * count, and no fault hits it.
   */
  async addEvent(simulationId: string, event: EngineEvent): Promise<void> {
    const data = { events: [{ simulation_id: simulationId, ...event }] };
    await this.#ask("POST", `${controlUrl(this.#address, "engine")}/sim/data`, { data });
  }

  /** Agent reports, requests to twins and utterances, in time order. */
  async trace(simulationId: string): Promise<TraceLine[]> {
    const answer = await this.#ask("GET", `${this.#simulationUrl(simulationId)}/trace`);
    return z.object({ trace: z.array(traceEntry) }).parse(answer).trace;
  }

  /** Adds rows to a twin's tables. @throws SandboxError listing every problem when a row is refused */
  async addRows(service: string, data: Record<string, unknown[]>): Promise<void> {
    await this.#ask("POST", `${controlUrl(this.#address, service)}/sim/data`, { data });
  }

  /** Arms a fault of a twin. @returns its id @throws SandboxError when the twin refuses it */
  async armFault(service: string, fault: unknown): Promise<string> {
    const body = await this.#ask("POST", `${controlUrl(this.#address, service)}/sim/faults`, fault);
    const { id } = z.object({ id: z.string() }).parse(body);
    this.#cleanup.faults.set(id, service);
    return id;
  }

  async disarmFault(service: string, id: string): Promise<void> {
    this.#cleanup.faults.delete(id);
    await this.#ask("DELETE", `${controlUrl(this.#address, service)}/sim/faults/${id}`);
  }

  /** The first thousand requests to a twin after `sinceSeq`. */
  async requests(service: string, sinceSeq: number): Promise<RequestRecord[]> {
    return (await this.#requestPage(service, { since: String(sinceSeq), limit: String(PAGE_ROWS) })).requests;
  }

  /** The sequence number of the latest request to a twin. */
  async newestRequest(service: string): Promise<number> {
    return (await this.#requestPage(service, { limit: "1" })).newest_seq;
  }

  async addScript(simulationId: string, rules: unknown): Promise<void> {
    this.#cleanup.scripts.add(simulationId);
    const data = { scripts: [{ simulation_id: simulationId, rules }] };
    await this.#ask("POST", `${controlUrl(this.#address, "vapi")}/sim/data`, { data });
  }

  async removeScript(simulationId: string): Promise<void> {
    this.#cleanup.scripts.delete(simulationId);
    const body = { entity_type: "scripts", key: simulationId };
    await this.#ask("DELETE", `${controlUrl(this.#address, "vapi")}/sim/data`, body);
  }

  async calls(simulationId: string): Promise<RuntimeCall[]> {
    return z.array(callRow).parse((await this.#rows("vapi", "calls", { simulation_id: simulationId })).rows);
  }

  /** The messages of a simulation, in order. */
  async messages(simulationId: string): Promise<RuntimeMessage[]> {
    const { rows } = await this.#rows("vapi", "messages", { simulation_id: simulationId });
    return z
      .array(messageRow)
      .parse(rows)
      .sort((one, other) => one.position - other.position);
  }

  async events(simulationId: string): Promise<EngineEvent[]> {
    const events: EngineEvent[] = [];
    for (;;) {
      const query = new URLSearchParams({ limit: String(PAGE_ROWS), offset: String(events.length) });
      const answer = await this.#ask("GET", `${this.#simulationUrl(simulationId)}/events?${query}`);
      const page = eventPage.parse(answer);
      events.push(...page.events);
      if (page.events.length === 0 || events.length >= page.total) return events;
    }
  }

  /** Database rows with these column values. */
  databaseRows(table: string, where: Record<string, string>): Promise<DatabaseRows> {
    return this.#rows("postgres", table, where);
  }

  /**
   * Address of a page of this sandbox in the twins' console; it signs one browser in, once.
   * @param page path below the sandbox's pages, such as `/calls/<id>`
   * @returns `undefined` where the twins have no console, or none that answers
   */
  async consoleAddress(page: string): Promise<string | undefined> {
    const { baseUrl, sandbox } = this.#address;
    try {
      const answer = await ask("POST", `${baseUrl}/console/codes`, keyHeader(this.#address));
      const query = new URLSearchParams({ code: consoleCode.parse(answer).code });
      return `${baseUrl}/console/${encodeURIComponent(sandbox)}${page}?${query}`;
    } catch {
      return undefined;
    }
  }

  /** Listens to one simulation. @returns stops listening */
  listen(simulationId: string, listener: SimulationListener): () => void {
    this.#listeners.set(simulationId, listener);
    return () => this.#listeners.delete(simulationId);
  }

  /** Removes the faults, simulations and scripts of calls that still run. @throws SandboxError */
  async withdraw(): Promise<void> {
    const { faults, simulations, scripts } = this.#cleanup;
    await Promise.all([
      ...[...faults].map(([id, service]) => this.disarmFault(service, id)),
      ...[...simulations].map((id) => this.endSimulation(id)),
      ...[...scripts].map((id) => this.removeScript(id)),
    ]);
  }

  close(): void {
    for (const stream of this.#streams) stream.close();
  }

  #notifyListener(table: string, row: Record<string, unknown> | undefined): void {
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

  async #requestPage(service: string, query: Record<string, string>) {
    const search = new URLSearchParams({ ...query, tier: "vendor" });
    return requestPage.parse(
      await this.#ask("GET", `${controlUrl(this.#address, service)}/sim/requests?${search}`),
    );
  }

  #simulationUrl(id: string): string {
    return `${this.#vendorUrl("engine")}/simulations/${encodeURIComponent(id)}`;
  }

  #vendorUrl(service: Service): string {
    return `${this.#address.baseUrl}/s/${this.#address.sandbox}/${service}`;
  }

  #ask(method: string, url: string, body?: unknown): Promise<unknown> {
    // Only the control plane gets the key.
    const isControl = url.startsWith(`${this.#address.baseUrl}/c/`);
    return ask(method, url, isControl ? keyHeader(this.#address) : {}, body);
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

function controlUrl({ baseUrl, sandbox }: Required<SandboxAddress>, service: string): string {
  return `${baseUrl}/c/${sandbox}/${service}`;
}
