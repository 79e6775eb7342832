/** All sandboxes of a process: made, found, reset and ended by the organisation they belong to. */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { isName } from "./address.ts";
import { isPlainName, NAME_SEPARATOR } from "./api-keys.ts";
import { Claims } from "./claims.ts";
import { SandboxClock, wallTime } from "./clock.ts";
import type { Dataset } from "./datasets/dataset.ts";
import type { DatasetPlace, Environments, ResetSandbox } from "./datasets/environments.ts";
import { getOrAdd } from "./get-or-add.ts";
import type { HostTarget, NamedTarget } from "./host-names.ts";
import type { OpenPort } from "./own-port.ts";
import { type Layout, type Reach, type Sandbox, startSandbox, stopSandbox, typeOf } from "./sandbox.ts";
import { FIRST_SANDBOX, SandboxRefusal } from "./sandbox-refusal.ts";
import { type ResetOutcome, resetSandbox } from "./sandbox-reset.ts";
import type { CheckedService } from "./services.ts";
import type { TwinOfSandbox } from "./vendor.ts";

export interface SandboxesOptions {
  /** The organisation `dev` belongs to. Its sandboxes stand in addresses by their bare id. */
  owner: string;
  baseUrl: string;
  /** Most sandboxes of one organisation at a time. */
  mostPerOrganisation: number;
  environments: Environments;
  /** Opens a port of a twin's own. */
  openPort(of: TwinOfSandbox, port: number): Promise<OpenPort>;
  log: Logger;
}

/** A sandbox that somebody wants. */
export interface SandboxPlan {
  /** Made when absent. */
  id?: string | undefined;
  services: readonly CheckedService[];
  /** Whose datasets its services have. */
  environment: string;
  /** Datasets of its own, by service: the environment's do not count for these. They end with it. */
  ownDatasets?: ReadonlyMap<string, Dataset> | undefined;
  /** Which files and variables of the machine its services may name. */
  reach: Reach;
  layout: Layout;
  /** How long it lives; for ever when absent. */
  ttlMs?: number | undefined;
}

/** A running sandbox, with what is known of its life. */
export interface LivingSandbox {
  sandbox: Sandbox;
  createdAtMs: number;
  expiresAtMs: number | undefined;
  /** Ports of its twins' own, by service. */
  ports: ReadonlyMap<string, OpenPort>;
  /** Datasets of its own, by service. */
  ownDatasets: ReadonlyMap<string, Dataset>;
}

/** A name that is taken, from before the sandbox starts until it has ended. */
type Slot =
  | { state: "starting"; started: Promise<unknown> }
  | { state: "running"; living: LivingSandbox; expiry: NodeJS.Timeout | undefined; turn: Promise<unknown> }
  | { state: "ending"; ended: Promise<void> };

export class Sandboxes {
  readonly #options: SandboxesOptions;
  /** By organisation, then by name: nothing of another organisation is even looked at. */
  readonly #slots = new Map<string, Map<string, Slot>>();
  readonly #running = new Map<string, Sandbox>();
  readonly #claims: Claims;
  #stopping = false;

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#claims = new Claims(options.owner, options.baseUrl);
  }

  /** The running sandbox of this name in addresses, whoever owns it. */
  named(name: string): Sandbox | undefined {
    return this.#running.get(name);
  }

  /** The twin that requests for a host name go to. */
  host(host: string): HostTarget | undefined {
    return this.#claims.hosts.find(host);
  }

  /** Every host name and pattern, with what it reaches. */
  hosts(): NamedTarget[] {
    return this.#claims.hosts.all();
  }

  /** The same, if it belongs to the organisation. */
  owned(organisation: string, name: string): Sandbox | undefined {
    const slot = this.#slots.get(organisation)?.get(name);
    return slot?.state === "running" ? slot.living.sandbox : undefined;
  }

  /** An organisation's sandbox by its id. */
  get(organisation: string, id: string): LivingSandbox | undefined {
    const slot = this.#slots.get(organisation)?.get(this.#nameOf(organisation, id));
    return slot?.state === "running" ? slot.living : undefined;
  }

  /** An organisation's sandboxes, oldest first. */
  list(organisation: string): LivingSandbox[] {
    const slots = [...(this.#slots.get(organisation)?.values() ?? [])];
    return slots.flatMap((slot) => (slot.state === "running" ? [slot.living] : []));
  }

  /** Starts a sandbox; it answers when this resolves. @throws SandboxRefusal, or Error naming the twin that did not start. */
  async create(organisation: string, plan: SandboxPlan): Promise<LivingSandbox> {
    const id = plan.id ?? `sb-${randomBytes(6).toString("hex")}`;
    const name = this.#nameOf(organisation, id);
    if (!isPlainName(id) || !isName(name)) {
      throw new SandboxRefusal(422, "invalid", `a sandbox cannot be called ${JSON.stringify(id)}`);
    }
    const slots = this.#slotsOf(organisation);
    for (let there = slots.get(name); there?.state === "ending"; there = slots.get(name)) await there.ended;
    if (this.#stopping) throw new SandboxRefusal(503, "stopping", "the twins are stopping");
    if (slots.has(name)) throw new SandboxRefusal(409, "conflict", `there is a sandbox ${id} already`);
    const { mostPerOrganisation } = this.#options;
    if (slots.size >= mostPerOrganisation) {
      throw new SandboxRefusal(
        429,
        "too_many_sandboxes",
        `an organisation has at most ${mostPerOrganisation} sandboxes at a time; delete one, or give them ttl_seconds`,
      );
    }
    this.#claims.add(organisation, name, plan.services);
    const starting = this.#start(organisation, id, name, plan);
    slots.set(name, { state: "starting", started: starting.catch(() => undefined) });
    try {
      return this.#keep(slots, await starting, plan.ttlMs);
    } catch (error) {
      this.#claims.release(name);
      slots.delete(name);
      throw error;
    }
  }

  /** Resets all its twins, or none; one reset at a time. `undefined`: there is no such sandbox. */
  async reset(
    organisation: string,
    id: string,
  ): Promise<{ sandbox: Sandbox; outcome: ResetOutcome } | undefined> {
    const slots = this.#slotsOf(organisation);
    const name = this.#nameOf(organisation, id);
    const slot = slots.get(name);
    if (slot?.state !== "running") return undefined;
    const { sandbox } = slot.living;
    const turn = slot.turn.then(async () =>
      slots.get(name) === slot ? { sandbox, outcome: await resetSandbox(sandbox) } : undefined,
    );
    slot.turn = turn.catch(() => undefined);
    return turn;
  }

  /** Puts the twins of a service to the dataset that its environment has now, in every sandbox that has none of its own. */
  async resetToDataset({ organisation, environment, service }: DatasetPlace): Promise<ResetSandbox[]> {
    const slots = this.#slotsOf(organisation);
    const resets = [...slots].map(async ([name, first]): Promise<ResetSandbox[]> => {
      // A sandbox that is starting may have asked for the dataset before it changed.
      if (first.state === "starting") await first.started;
      const slot = slots.get(name);
      if (slot?.state !== "running" || slot.living.ownDatasets.has(service)) return [];
      const { sandbox } = slot.living;
      const twin = sandbox.twins.get(service);
      if (sandbox.environment !== environment || !twin) return [];
      const turn = slot.turn.then(() => (slots.get(name) === slot ? twin.reset() : undefined));
      slot.turn = turn.catch(() => undefined);
      try {
        await turn;
        return [{ id: sandbox.id }];
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error);
        twin.log.error({ err: error }, "the twin was not put to its dataset");
        return [{ id: sandbox.id, problem }];
      }
    });
    return (await Promise.all(resets)).flat();
  }

  /** Ends a sandbox with all that belongs to it, and waits for that. `false`: there is none. @throws SandboxRefusal */
  async remove(organisation: string, id: string): Promise<boolean> {
    if (organisation === this.#options.owner && id === FIRST_SANDBOX) {
      throw new SandboxRefusal(
        409,
        "conflict",
        `${FIRST_SANDBOX} lives as long as the twins do; reset it instead`,
      );
    }
    const slots = this.#slotsOf(organisation);
    const name = this.#nameOf(organisation, id);
    const slot = slots.get(name);
    if (slot?.state !== "running") return false;
    await this.#end(slots, name, slot);
    return true;
  }

  /** Ends all of them, those that are starting included, and takes no more. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const all = [...this.#slots.values()].flatMap((slots) =>
      [...slots].map(([name, slot]) => ({ slots, name, slot })),
    );
    await Promise.all(
      all.map(async ({ slots, name, slot }) => {
        if (slot.state === "starting") await slot.started;
        const now = slots.get(name);
        if (now?.state === "running") await this.#end(slots, name, now);
        if (now?.state === "ending") await now.ended;
      }),
    );
  }

  async #start(organisation: string, id: string, name: string, plan: SandboxPlan): Promise<Started> {
    const { baseUrl, log } = this.#options;
    const services = plan.services.map(({ definition, config, profile }) => ({
      type: typeOf(definition),
      config,
      ...(profile === undefined ? {} : { profile }),
    }));
    const { layout, reach, environment, ownDatasets = new Map<string, Dataset>() } = plan;
    const clock = new SandboxClock();
    const dataset = (service: string) =>
      ownDatasets.get(service) ?? this.#options.environments.dataset({ organisation, environment, service });
    const identity = { id, name, organisation, environment };
    const options = { ...identity, layout, clock, baseUrl, services, log, reach, dataset };
    const sandbox = await startSandbox(options);
    const ports = new Map<string, OpenPort>();
    try {
      for (const { definition, port } of plan.services) {
        const twin = sandbox.twins.get(definition.name);
        if (port === undefined || !twin) continue;
        ports.set(definition.name, await this.#options.openPort({ sandbox, twin }, port));
      }
    } catch (error) {
      await stopAll({ sandbox, ports, ownDatasets });
      throw new SandboxRefusal(409, "conflict", error instanceof Error ? error.message : String(error));
    }
    return { sandbox, ports, ownDatasets };
  }

  /** Makes a started sandbox reachable. */
  #keep(slots: Map<string, Slot>, started: Started, ttlMs: number | undefined): LivingSandbox {
    const { sandbox } = started;
    const createdAtMs = wallTime();
    const expiresAtMs = ttlMs === undefined ? undefined : createdAtMs + ttlMs;
    const living: LivingSandbox = { ...started, createdAtMs, expiresAtMs };
    const { organisation, id, name } = sandbox;
    const expire = () => {
      this.#options.log.info({ sandbox: name }, "the sandbox's time is over");
      this.remove(organisation, id).catch((error: unknown) => {
        this.#options.log.error({ err: error, sandbox: name }, "the sandbox did not end");
      });
    };
    const expiry = ttlMs === undefined ? undefined : setTimeout(expire, ttlMs);
    expiry?.unref();
    slots.set(name, { state: "running", living, expiry, turn: Promise.resolve() });
    this.#running.set(name, sandbox);
    return living;
  }

  /** Nothing reaches it from here on; its name is free when all of it has ended. */
  #end(slots: Map<string, Slot>, name: string, slot: Slot & { state: "running" }): Promise<void> {
    clearTimeout(slot.expiry);
    this.#running.delete(name);
    this.#claims.release(name);
    const ended = slot.turn.then(() => stopAll(slot.living)).finally(() => slots.delete(name));
    slots.set(name, { state: "ending", ended });
    return ended;
  }

  #slotsOf(organisation: string): Map<string, Slot> {
    return getOrAdd(this.#slots, organisation, () => new Map());
  }

  /** Two organisations may use the same id without learning of one another. */
  #nameOf(organisation: string, id: string): string {
    return organisation === this.#options.owner ? id : `${organisation}${NAME_SEPARATOR}${id}`;
  }
}

/** A sandbox with its twins' ports, before anybody can reach it by name. */
type Started = Pick<LivingSandbox, "sandbox" | "ports" | "ownDatasets">;

async function stopAll({ sandbox, ports, ownDatasets }: Started): Promise<void> {
  await stopSandbox(sandbox);
  await Promise.all([...ports.values()].map((port) => port.close()));
  await Promise.all([...ownDatasets.values()].map((dataset) => dataset.release()));
}
