/**
 * The primary process of an agent of several workers: it forks and replaces them, says which of them has the next call,
 * leads tool calls to the worker of their call, adds up the metrics, has the tunnel, and stops all together.
 */
import cluster from "node:cluster";
import { createHash, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { z } from "zod";
import { type Config, ConfigError } from "../config.ts";
import { DeadlineExceeded, withDeadline } from "../deadline.ts";
import { messageOf } from "../log.ts";
import { AgentMetrics } from "../metrics.ts";
import { type PublicUrl, publicUrlFor } from "../public-url.ts";
import { type AgentProcess, CLOSE_LIMIT_MS, drainLimitMs, warnOfSecret } from "../server.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { callKeyOf } from "../tool-webhook.ts";
import type { LinkHandler } from "./link.ts";
import { type Departure, Member } from "./member.ts";
import { handOverSchema, type Room, readySchema, routedToolsSchema, toolResultsSchema } from "./messages.ts";
import { sumMetrics } from "./metrics-sum.ts";

/** Interval at which each worker must answer, and how long it may take before it is killed as hung. */
const PULSE_MS = 5_000;
const HUNG_MS = 30_000;
/** A worker that lives shorter than this makes the next one wait. */
const SHORT_LIFE_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;
/** Longest run of tool calls at another worker: the longest time limit of a tool, an hour, and a margin. */
const MAX_TOOLS_MS = 3_700_000;

/** One place among the workers. */
class Slot {
  readonly number: number;
  current: Member | undefined;
  generation = 0;
  /** Short lives in a row. */
  shortLives = 0;
  timer: NodeJS.Timeout | undefined;

  constructor(number: number) {
    this.number = number;
  }
}

/**
 * Starts the workers; resolves when all of them listen.
 * @throws ConfigError with what kept a worker from starting
 */
export async function startWorkers(
  config: Config,
  { log, telemetry }: { log: Logger; telemetry: Telemetry },
): Promise<AgentProcess> {
  warnOfSecret(config, log);
  const pool = new WorkerPool(config, log);
  telemetry.exportMetrics(pool.ownMetrics);
  await pool.start();
  return pool;
}

class WorkerPool implements AgentProcess {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #secret: string;
  readonly #slots: Slot[];
  /** Every process that is not gone. */
  readonly #members = new Set<Member>();
  /** The primary's; it has no calls. */
  readonly ownMetrics = new AgentMetrics(() => 0);
  /** The counters of workers that are gone. */
  #goneMetrics = "";
  #ready: z.infer<typeof readySchema> | undefined;
  #publicUrl: PublicUrl | undefined;
  #stopping: Promise<void> | undefined;
  /** Calls at the runtime of workers that were killed, for the next worker to end. */
  readonly #orphans = new Set<string>();
  /** Conditions over the members that somebody waits for. */
  readonly #waiting = new Set<() => void>();
  #startFailure: Error | undefined;
  hasFailed = false;

  constructor(config: Config, log: Logger) {
    this.#config = config;
    this.#log = log;
    this.#secret = config.toolSecret ?? randomBytes(24).toString("base64url");
    this.#slots = Array.from({ length: config.workers }, (_, index) => new Slot(index + 1));
  }

  async start(): Promise<void> {
    setUpFork();
    setInterval(() => this.#pulse(), PULSE_MS).unref();
    for (const slot of this.#slots) this.#fork(slot);
    const allServe = () => this.#slots.every(({ current }) => current?.state === "serving");
    await this.#until(() => this.#startFailure !== undefined || allServe());
    if (this.#startFailure !== undefined) {
      this.#stopping = Promise.resolve();
      for (const member of this.#members) member.kill("start");
      throw this.#startFailure;
    }
    const toolUrl = this.#ready?.toolUrl ?? "";
    this.#publicUrl = await publicUrlFor(this.#config, {
      log: this.#log,
      ownUrl: () => this.url,
      openToolServer: async () => toolUrl,
    });
    this.#changed();
  }

  get url(): string {
    return this.#ready?.url ?? "";
  }

  get activeCalls(): number {
    return [...this.#members].reduce((calls, member) => calls + member.calls, 0);
  }

  endCalls(): void {
    for (const { link } of this.#members) link.tell("end-calls");
  }

  strayError(kind: "rejection" | "exception", error: unknown): void {
    this.ownMetrics.strayErrors.add(1, { kind, tool: "none" });
    this.#log.error({ err: error }, `${kind} that no code caught, in the primary process`);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** Every worker listens until the last call of all is over, for its tools may come to any of them. */
  async #stop(): Promise<void> {
    for (const slot of this.#slots) clearTimeout(slot.timer);
    for (const member of this.#members) {
      if (member.state === "starting") member.kill("stop");
      else if (member.state === "serving") member.link.tell("drain");
    }
    const isDrained = (member: Member) => member.isDrained || member.state === "gone";
    await this.#within(drainLimitMs(this.#config), () => [...this.#members].every(isDrained));
    await this.#publicUrl?.close();
    for (const { link } of this.#members) link.tell("close");
    await this.#within(CLOSE_LIMIT_MS, () => this.#members.size === 0);
    for (const member of this.#members) {
      this.#log.error(
        { worker: member.name, calls: member.calls },
        "a worker did not end in time and is killed",
      );
      member.kill("stop");
    }
    await this.#until(() => this.#members.size === 0);
    this.#reportOrphans();
  }

  #fork(slot: Slot): void {
    slot.generation += 1;
    const member = new Member({
      slot: slot.number,
      generation: slot.generation,
      env: { TOOL_SECRET: this.#secret },
      handlers: (self) => this.#handlers(self),
      onError: ({ name }, error) =>
        this.#log.error({ worker: name, reason: messageOf(error) }, "a message of a worker failed"),
    });
    slot.current = member;
    this.#members.add(member);
    void member.departed.then((departure) => this.#departed(slot, member, departure));
  }

  #departed(slot: Slot, member: Member, { code, signal }: Departure): void {
    this.#members.delete(member);
    this.#goneMetrics = sumMetrics([], [this.#goneMetrics, member.lastMetrics]);
    const isAsked = this.#stopping !== undefined && (code === 0 || member.killedFor === "stop");
    if (!isAsked && this.#ready !== undefined) {
      const reason = member.killedFor ?? (signal === null ? "exit" : "signal");
      this.ownMetrics.workersLost.add(1, { reason });
      this.#log.error(
        { worker: member.name, pid: member.pid, reason, code, signal, calls: member.calls },
        "a worker is gone, and its calls with it",
      );
    }
    for (const id of member.runtimeCalls) this.#orphans.add(id);
    this.#endOrphans();
    if (this.#stopping !== undefined) this.hasFailed ||= !isAsked || member.calls > 0;
    else if (this.#ready === undefined)
      this.#startFailure ??= new ConfigError(`a worker ended with ${code ?? signal}`);
    else if (slot.current === member) this.#replace(slot, performance.now() - member.startedAt);
    this.#changed();
  }

  /** Has a worker end the calls at the runtime that killed workers have left open there: they cost money. */
  #endOrphans(): void {
    const heir = [...this.#members].find(({ state, isDrained }) => state === "serving" && !isDrained);
    if (heir === undefined || this.#orphans.size === 0) return;
    this.#log.warn(
      { worker: heir.name, calls: this.#orphans.size },
      "calls of a lost worker are ended at the runtime",
    );
    heir.link.tell("end-orphans", [...this.#orphans]);
    for (const id of this.#orphans) heir.runtimeCalls.add(id);
    this.#orphans.clear();
  }

  #reportOrphans(): void {
    for (const runtimeCallId of this.#orphans) {
      this.ownMetrics.notEnded.add(1, { reason: "stopped" });
      this.#log.error(
        { runtimeCallId },
        "a call could not be ended: it may still be open at the runtime, and be billed; end it there by its id",
      );
    }
  }

  /** Forks the next worker of a place, later after each one that lived only shortly. */
  #replace(slot: Slot, livedMs: number): void {
    slot.current = undefined;
    slot.shortLives = livedMs < SHORT_LIFE_MS ? slot.shortLives + 1 : 0;
    const pauseMs =
      slot.shortLives <= 1 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (slot.shortLives - 2), MAX_PAUSE_MS);
    this.#log.warn({ worker: slot.number, pauseMs }, "a worker is replaced");
    slot.timer = setTimeout(() => void this.#forkNext(slot), pauseMs);
  }

  /** Beside a worker that lets its calls finish there is one other of its place, not ever more. */
  async #forkNext(slot: Slot): Promise<void> {
    const leaving = () => [...this.#members].filter((member) => member.slot === slot.number).length;
    await this.#until(() => this.#stopping !== undefined || leaving() <= 1);
    if (this.#stopping === undefined) this.#fork(slot);
  }

  #handlers(member: Member): Record<string, LinkHandler> {
    return {
      ready: (body) => {
        member.state = "serving";
        this.#ready ??= readySchema.parse(body);
        this.#log.info({ worker: member.name, pid: member.pid }, "a worker listens");
        this.#endOrphans();
        this.#changed();
      },
      failed: (body) => {
        const reason = z.string().parse(body);
        if (this.#ready === undefined) this.#startFailure ??= new ConfigError(reason);
        else this.#log.error({ worker: member.name, reason }, "a worker could not start");
        this.#changed();
      },
      leaving: () => this.#leave(member),
      "last-metrics": (body) => {
        member.lastMetrics = z.string().parse(body);
      },
      drained: () => {
        member.isDrained = true;
        this.#changed();
      },
      reserve: () => this.#reserve(member),
      release: () => {
        member.calls -= 1;
      },
      opened: (body) => {
        member.runtimeCalls.add(z.string().parse(body));
      },
      over: (body) => {
        member.runtimeCalls.delete(z.string().parse(body));
      },
      "hand-over": (body, socket) => {
        const { to, upgrade } = handOverSchema.parse(body);
        const target = this.#named(to);
        if (target === undefined) socket?.destroy();
        else target.link.tell("serve", upgrade, socket);
      },
      "run-tools": (body) => this.#runTools(member, body),
      metrics: () => this.#sumMetrics(),
      tunnel: async () => {
        await this.#until(() => this.#publicUrl !== undefined);
        return this.#publicUrl?.get(new AbortController().signal);
      },
    };
  }

  /** A worker ends by itself after an exception, once its calls are over. */
  #leave(member: Member): void {
    if (member.state !== "serving") return;
    member.state = "leaving";
    const slot = this.#slots[member.slot - 1];
    if (this.#stopping !== undefined || slot?.current !== member) return;
    this.#replace(slot, performance.now() - member.startedAt);
  }

  /**
   * The worker with the fewest calls has the next one. The round robin by which connections come to workers does not see
   * to that: it counts tool calls' connections as much as callers' (one after each call, and all calls are the same
   * worker's), and not how long they last.
   */
  #reserve(asking: Member): Room {
    if (this.activeCalls >= this.#config.maxCalls) return { place: "nowhere" };
    const serving = [...this.#members].filter(({ state }) => state === "serving");
    const fewest = serving.reduce<Member | undefined>(
      (least, member) => (least === undefined || member.calls < least.calls ? member : least),
      undefined,
    );
    if (fewest === undefined) return { place: "nowhere" };
    const isHere = asking.state === "serving" && asking.calls === fewest.calls;
    const chosen = isHere ? asking : fewest;
    chosen.calls += 1;
    return isHere ? { place: "here" } : { place: "elsewhere", worker: chosen.name };
  }

  async #runTools(asking: Member, body: unknown): Promise<unknown> {
    const { worker, request } = routedToolsSchema.parse(body);
    const owner = this.#ownerOf(worker, callKeyOf(request.origin));
    if (owner === undefined || owner === asking) return null;
    return owner.link.ask("run-tools", request, { answer: toolResultsSchema, timeoutMs: MAX_TOOLS_MS });
  }

  /**
   * The worker of a call, or the one that has its place now. Without a name the call's key decides, so that a repeated
   * tool call comes to the same worker.
   */
  #ownerOf(worker: string | null, callKey: string): Member | undefined {
    const named = worker === null ? undefined : this.#named(worker);
    if (named !== undefined) return named;
    const place = Number(/^(\d+)\.\d+$/.exec(worker ?? "")?.[1]) - 1;
    const hashed = createHash("sha256").update(callKey).digest().readUInt32BE() % this.#slots.length;
    return (this.#slots[place] ?? this.#slots[hashed])?.current;
  }

  #named(name: string): Member | undefined {
    return [...this.#members].find((member) => member.name === name);
  }

  async #sumMetrics(): Promise<string> {
    const living = [...this.#members].map((member) => member.metrics());
    return sumMetrics([this.ownMetrics.text(), ...(await Promise.all(living))], [this.#goneMetrics]);
  }

  /** A worker whose event loop hangs takes no connection, so no probe would find it. */
  #pulse(): void {
    for (const member of this.#members) {
      member.hear(HUNG_MS).catch((error) => {
        if (error instanceof DeadlineExceeded) member.kill("hung");
      });
    }
  }

  /** Resolves once a condition holds. */
  #until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  async #within(timeoutMs: number, condition: () => boolean): Promise<void> {
    const never = new AbortController().signal;
    await withDeadline(never, timeoutMs, () => this.#until(condition)).catch((error) => {
      this.#log.error({ reason: messageOf(error) }, "workers did not end in time");
    });
  }

  #changed(): void {
    for (const check of [...this.#waiting]) check();
  }
}

/** Workers run as this process does, sources through tsx. */
function setUpFork(): void {
  const own = fileURLToPath(import.meta.url);
  const exec = own.replace(/pool(\.[jt]s)$/, "worker$1");
  const needsLoader = own.endsWith(".ts") && !process.execArgv.some((argument) => argument.includes("tsx"));
  const loader = needsLoader ? ["--import", import.meta.resolve("tsx")] : [];
  cluster.setupPrimary({ exec, args: [], execArgv: [...process.execArgv, ...loader] });
}
