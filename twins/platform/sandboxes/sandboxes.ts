/** All sandboxes of a process: created, found, reset and removed by the organisation that owns them. */

import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { SandboxClock, wallTime } from "../base/clock.ts";
import { endWithin } from "../base/deadline.ts";
import { getOrAdd } from "../base/get-or-add.ts";
import { reasonOf } from "../base/reason.ts";
import type { DatasetPlace, Environments, ResetSandbox } from "../datasets/environments.ts";
import { isName } from "../http/address.ts";
import { isPlainName, NAME_SEPARATOR } from "../http/api-keys.ts";
import type { Operation } from "../http/operation.ts";
import type { PlatformKeys } from "../journal/known-secrets.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { Dataset } from "../twin/dataset.ts";
import { Claims } from "./claims.ts";
import type { HostTarget, NamedTarget } from "./host-names.ts";
import {
  type Layout,
  type Reach,
  type Sandbox,
  startSandbox,
  stopSandbox,
  TWIN_STOP_MS,
  type TwinOfSandbox,
  typeOf,
} from "./sandbox.ts";
import { FIRST_SANDBOX, SandboxRefusal } from "./sandbox-refusal.ts";
import { type ResetOutcome, resetSandbox } from "./sandbox-reset.ts";
import type { CheckedService } from "./services.ts";

/** A port of a twin's own. */
export interface OpenPort {
  /** `http://host:port`, without a slash at the end; with a certificate the same port takes `https:`. */
  url: string;
  /** Ends every connection and waits until the port is free. */
  close(): Promise<void>;
}

export interface SandboxesOptions {
  /** The organisation that owns `dev`. The ids of its sandboxes have no prefix. */
  owner: string;
  baseUrl: string;
  /** Sandboxes of one organisation at a time. */
  maxPerOrganisation: number;
  /** Size limit of a twin's snapshot. */
  snapshotBytes: number;
  environments: Environments;
  /** The control routes of every twin. */
  controlOperations: readonly Operation<TwinOfSandbox>[];
  /** Opens a port of a twin's own. */
  openPort(of: TwinOfSandbox, port: number): Promise<OpenPort>;
  /** Masked in every journal. */
  platformKeys: PlatformKeys;
  log: Logger;
  telemetry: Telemetry;
}

/** The specification of a new sandbox. */
export interface SandboxPlan {
  /** Requested name; random when absent. */
  id?: string | undefined;
  services: readonly CheckedService[];
  /** The environment whose datasets its services use. */
  environment: string;
  /** Its own datasets, by service; they override the environment's and are released with the sandbox. */
  ownDatasets?: ReadonlyMap<string, Dataset> | undefined;
  /** The files and variables of the machine that its services may name. */
  reach: Reach;
  layout: Layout;
  /** Called when one of its twins has started. */
  onTwinStarted?: ((name: string) => void) | undefined;
  /** Lifetime; unlimited when absent. */
  ttlMs?: number | undefined;
}

/** A running sandbox with its lifetime, ports and datasets. */
export interface LivingSandbox {
  sandbox: Sandbox;
  createdAtMs: number;
  expiresAtMs: number | undefined;
  /** Its twins' own ports, by service. */
  ports: ReadonlyMap<string, OpenPort>;
  /** Its own datasets, by service. */
  ownDatasets: ReadonlyMap<string, Dataset>;
}

/** A reserved id, from before the sandbox starts until it has ended. */
type Slot =
  | { state: "starting"; started: Promise<unknown> }
  | { state: "running"; living: LivingSandbox; expiry: NodeJS.Timeout | undefined; turn: Promise<unknown> }
  | { state: "ending"; ended: Promise<void> };

/** Time to close sockets, ports and datasets after the twins have stopped. */
const CLOSE_MARGIN_MS = 1500;

export class Sandboxes {
  readonly #options: SandboxesOptions;
  /** By organisation, then by id, so that lookups never touch another organisation's sandboxes. */
  readonly #slots = new Map<string, Map<string, Slot>>();
  readonly #running = new Map<string, Sandbox>();
  readonly #claims: Claims;
  #stopping = false;

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#claims = new Claims(options.owner, options.baseUrl);
  }

  /** The running sandbox of this id, whoever owns it. */
  running(id: string): Sandbox | undefined {
    return this.#running.get(id);
  }

  /** The twin that requests for a host name go to. */
  host(host: string): HostTarget | undefined {
    return this.#claims.hosts.find(host);
  }

  /** Every host name and pattern, with what it reaches. */
  hosts(): NamedTarget[] {
    return this.#claims.hosts.all();
  }

  /** An organisation's sandbox by its id, or by its requested name. */
  get(organisation: string, given: string): LivingSandbox | undefined {
    const slot = this.#slots.get(organisation)?.get(this.#idOf(organisation, given));
    return slot?.state === "running" ? slot.living : undefined;
  }

  /** An organisation's sandboxes, oldest first. */
  list(organisation: string): LivingSandbox[] {
    const slots = [...(this.#slots.get(organisation)?.values() ?? [])];
    return slots.flatMap((slot) => (slot.state === "running" ? [slot.living] : []));
  }

  /** Starts a sandbox; it is reachable when this resolves. @throws SandboxRefusal, or Error naming the twin that did not start. */
  async create(organisation: string, plan: SandboxPlan): Promise<LivingSandbox> {
    const given = plan.id ?? `sb-${randomBytes(6).toString("hex")}`;
    const id = this.#idOf(organisation, given);
    if (!isPlainName(given) || !isName(id)) {
      throw new SandboxRefusal(422, "invalid", `a sandbox cannot be called ${JSON.stringify(given)}`);
    }
    const slots = this.#slotsOf(organisation);
    for (let there = slots.get(id); there?.state === "ending"; there = slots.get(id)) await there.ended;
    if (this.#stopping) throw new SandboxRefusal(503, "stopping", "the twins are stopping");
    if (slots.has(id)) throw new SandboxRefusal(409, "conflict", `there is a sandbox ${id} already`);
    const { maxPerOrganisation } = this.#options;
    if (slots.size >= maxPerOrganisation) {
      throw new SandboxRefusal(
        429,
        "too_many_sandboxes",
        `an organisation has at most ${maxPerOrganisation} sandboxes at a time; delete one, or give them ttl_seconds`,
      );
    }
    this.#claims.add(organisation, id, plan.services);
    const starting = this.#start(organisation, id, plan);
    slots.set(id, { state: "starting", started: starting.catch(() => undefined) });
    try {
      return this.#keep(slots, await starting, plan.ttlMs);
    } catch (error) {
      this.#claims.release(id);
      slots.delete(id);
      throw error;
    }
  }

  /** Resets all twins of a sandbox, or none; one reset at a time. `undefined`: there is no such sandbox. */
  async reset(
    organisation: string,
    given: string,
  ): Promise<{ sandbox: Sandbox; outcome: ResetOutcome } | undefined> {
    const slots = this.#slotsOf(organisation);
    const id = this.#idOf(organisation, given);
    const slot = slots.get(id);
    if (slot?.state !== "running") return undefined;
    const { sandbox } = slot.living;
    const turn = slot.turn.then(async () =>
      slots.get(id) === slot ? { sandbox, outcome: await resetSandbox(sandbox) } : undefined,
    );
    slot.turn = turn.catch(() => undefined);
    return turn;
  }

  /** Resets the twins of a service to the environment's current dataset, in every sandbox without a dataset of its own. */
  async resetToDataset({ organisation, environment, service }: DatasetPlace): Promise<ResetSandbox[]> {
    const slots = this.#slotsOf(organisation);
    const resets = [...slots].map(async ([id, first]): Promise<ResetSandbox[]> => {
      // A starting sandbox may have loaded the dataset before it changed.
      if (first.state === "starting") await first.started;
      const slot = slots.get(id);
      if (slot?.state !== "running" || slot.living.ownDatasets.has(service)) return [];
      const { sandbox } = slot.living;
      const twin = sandbox.twins.get(service);
      if (sandbox.environment !== environment || !twin) return [];
      const turn = slot.turn.then(() => (slots.get(id) === slot ? twin.reset() : undefined));
      slot.turn = turn.catch(() => undefined);
      try {
        await turn;
        return [{ id }];
      } catch (error) {
        const problem = reasonOf(error);
        twin.log.error({ err: error }, "could not load the dataset into the twin");
        return [{ id, problem }];
      }
    });
    return (await Promise.all(resets)).flat();
  }

  /** Ends a sandbox and waits until everything of it is closed. `false`: there is none. @throws SandboxRefusal */
  async remove(organisation: string, given: string): Promise<boolean> {
    const id = this.#idOf(organisation, given);
    if (id === FIRST_SANDBOX) {
      throw new SandboxRefusal(
        409,
        "conflict",
        `${FIRST_SANDBOX} lives as long as the twins do; reset it instead`,
      );
    }
    const slots = this.#slotsOf(organisation);
    const slot = slots.get(id);
    if (slot?.state !== "running") return false;
    await this.#end(slots, id, slot, TWIN_STOP_MS);
    return true;
  }

  /**
   * Ends all sandboxes, including starting ones, and refuses new ones.
   * @param limitMs total time limit; later work is abandoned
   */
  async stop(limitMs: number): Promise<void> {
    this.#stopping = true;
    // Reserves part of the time to close what the twins leave open.
    const twinMs = limitMs - CLOSE_MARGIN_MS;
    const all = [...this.#slots.values()].flatMap((slots) =>
      [...slots].map(([id, slot]) => ({ slots, id, slot })),
    );
    const endings = all.map(async ({ slots, id, slot }) => {
      if (slot.state === "starting") await slot.started;
      const now = slots.get(id);
      if (now?.state === "running") await this.#end(slots, id, now, twinMs);
      if (now?.state === "ending") await now.ended;
    });
    try {
      await endWithin(limitMs, Promise.all(endings));
    } catch (error) {
      this.#options.log.error({ err: error }, "a sandbox did not end");
    }
  }

  async #start(organisation: string, id: string, plan: SandboxPlan): Promise<Started> {
    const { baseUrl, platformKeys, log, telemetry, snapshotBytes, controlOperations } = this.#options;
    const services = plan.services.map(({ definition, config, profile }) => ({
      type: typeOf(definition, controlOperations),
      config,
      ...(profile === undefined ? {} : { profile }),
    }));
    const { layout, environment, onTwinStarted, ownDatasets = new Map<string, Dataset>() } = plan;
    const { resolveWritablePath: _owned, ...readingReach } = plan.reach;
    const reach = organisation === this.#options.owner ? plan.reach : readingReach;
    const clock = new SandboxClock();
    const dataset = (service: string) =>
      ownDatasets.get(service) ?? this.#options.environments.dataset({ organisation, environment, service });
    const identity = { id, organisation, environment, snapshotBytes };
    const options = { ...identity, layout, clock, baseUrl, services, platformKeys, log, reach, dataset };
    const sandbox = await startSandbox({ ...options, telemetry, onTwinStarted });
    const ports = new Map<string, OpenPort>();
    try {
      for (const { definition, port } of plan.services) {
        const twin = sandbox.twins.get(definition.name);
        if (port === undefined || !twin) continue;
        ports.set(definition.name, await this.#options.openPort({ sandbox, twin }, port));
      }
    } catch (error) {
      await stopAll({ sandbox, ports, ownDatasets }, TWIN_STOP_MS);
      throw new SandboxRefusal(409, "conflict", reasonOf(error));
    }
    return { sandbox, ports, ownDatasets };
  }

  /** Makes a started sandbox reachable. */
  #keep(slots: Map<string, Slot>, started: Started, ttlMs: number | undefined): LivingSandbox {
    const { sandbox } = started;
    const createdAtMs = wallTime();
    const expiresAtMs = ttlMs === undefined ? undefined : createdAtMs + ttlMs;
    const living: LivingSandbox = { ...started, createdAtMs, expiresAtMs };
    const { organisation, id } = sandbox;
    const expire = () => {
      this.#options.log.info({ sandbox: id }, "the sandbox's time is over");
      this.remove(organisation, id).catch((error: unknown) => {
        this.#options.log.error({ err: error, sandbox: id }, "the sandbox did not end");
      });
    };
    const expiry = ttlMs === undefined ? undefined : setTimeout(expire, ttlMs);
    expiry?.unref();
    slots.set(id, { state: "running", living, expiry, turn: Promise.resolve() });
    this.#running.set(id, sandbox);
    return living;
  }

  /** Makes a sandbox unreachable and ends it; its id is free once everything is closed. */
  #end(
    slots: Map<string, Slot>,
    id: string,
    slot: Slot & { state: "running" },
    limitMs: number,
  ): Promise<void> {
    clearTimeout(slot.expiry);
    this.#running.delete(id);
    this.#claims.release(id);
    // A hanging reset must not block the end forever.
    const ended = endWithin(limitMs, slot.turn)
      .catch(() => undefined)
      .then(() => stopAll(slot.living, limitMs))
      .finally(() => slots.delete(id));
    slots.set(id, { state: "ending", ended });
    return ended;
  }

  #slotsOf(organisation: string): Map<string, Slot> {
    return getOrAdd(this.#slots, organisation, () => new Map());
  }

  /** The id for a requested name. The prefix lets two organisations use the same name without noticing each other. */
  #idOf(organisation: string, given: string): string {
    const prefix = `${organisation}${NAME_SEPARATOR}`;
    return organisation === this.#options.owner || given.startsWith(prefix) ? given : prefix + given;
  }
}

/** A started sandbox that is not reachable by name yet. */
type Started = Pick<LivingSandbox, "sandbox" | "ports" | "ownDatasets">;

async function stopAll({ sandbox, ports, ownDatasets }: Started, limitMs: number): Promise<void> {
  await stopSandbox(sandbox, limitMs);
  await Promise.all([...ports.values()].map((port) => port.close()));
  await Promise.all([...ownDatasets.values()].map((dataset) => dataset.release()));
}
