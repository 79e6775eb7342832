/** Runs the fuzzer over a house: rounds of requests to every part at once, then whether all is as it was. */
import { setTimeout } from "node:timers/promises";
import { asCurl, type FuzzRequest, Sender } from "@offhook/platform/testing/fuzz/request";
import { judge, TOO_SLOW, type Verdict } from "@offhook/platform/testing/fuzz/rules";
import type { Target } from "@offhook/platform/testing/fuzz/targets";
import { httpTalk, postgresTalk, talk } from "@offhook/platform/testing/fuzz/wire";
import fc from "fast-check";
import { type FuzzedHouse, openHouse } from "./house.ts";
import type { Descriptors, Memory, Program } from "./program.ts";

export interface FuzzOptions {
  seed: number;
  /** It ends after so many requests, an equal share for each part, or so much time, whichever comes first. */
  requests: number;
  limitMs: number;
  /** Longest an answer may take. */
  slowMs: number;
  /** Only parts whose name is one of these or begins with one as its words; all when empty. */
  only: readonly string[];
  progress(line: string): void;
}

interface Finding {
  target: string;
  verdict: string;
  /** The smallest request that was found, as a command. */
  reproduction: string;
  /** The seed of its round. */
  seed: number;
}

interface TargetReport {
  name: string;
  requests: number;
  /** How often each class of status was answered, such as `2xx`. */
  statuses: Record<string, number>;
  slowestMs: number;
}

/** What is sent rounds of requests or connections. */
interface Part {
  name: string;
  round(seed: number): Promise<void>;
}

/** A process before SIGTERM; absent values are not shown by the system. */
interface ProcessReport {
  name: string;
  /** After the first requests. */
  before: Partial<Descriptors & Memory>;
  after: Partial<Descriptors & Memory>;
}

export interface FuzzReport {
  seed: number;
  targets: TargetReport[];
  processes: ProcessReport[];
  findings: Finding[];
}

/** Requests of a round: its part is reset after it, so that a finding depends on no more than these. */
const ROUND = 200;
const ROUND_LIMIT_MS = 120_000;
/** What a part may still have open at the end beyond what it had at the start: pools and caches that were not filled yet. */
const MORE_SOCKETS = 8;
const MORE_DESCRIPTORS = 24;
const SETTLE_LIMIT_MS = 45_000;
const PAUSE_MS = 20;
/** More than all stores' and caches' limits for these few events: what is above it has not been given back. */
const MAX_RESIDENT_MB = 4_000;
/** Longest way from SIGTERM to the end. */
const END_LIMIT_MS = 20_000;

/** @throws Error when the programs do not start */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  options.progress("starting twins and agent");
  const house = await openHouse();
  const sender = new Sender();
  try {
    const run = new Run(house, sender, options);
    await run.everything();
    return run.report();
  } finally {
    sender.close();
    await Promise.all([house.twins.terminate(END_LIMIT_MS), house.agent.terminate(END_LIMIT_MS)]);
    await house.remove();
  }
}

class Run {
  readonly #house: FuzzedHouse;
  readonly #sender: Sender;
  readonly #options: FuzzOptions;
  readonly #reports = new Map<string, TargetReport>();
  readonly #findings = new Map<string, Finding>();
  readonly #processes: ProcessReport[] = [];
  readonly #parts: Part[];
  /** Requests of each part. Were they counted together, the slowest would have few of them. */
  readonly #share: number;
  readonly #endAt: number;
  #requests = 0;
  #connections = 0;

  constructor(house: FuzzedHouse, sender: Sender, options: FuzzOptions) {
    this.#house = house;
    this.#sender = sender;
    this.#options = options;
    const parts: Part[] = [
      ...house.targets.map((target) => ({
        name: target.name,
        round: (seed: number) => this.#round(target, seed, ROUND),
      })),
      ...house.wires.map((wire) => ({
        name: wire.name,
        round: (seed: number) => this.#wireRound(wire, seed),
      })),
    ];
    this.#parts = parts.filter(({ name }) => isChosen(name, options.only));
    this.#share = Math.ceil(options.requests / this.#parts.length);
    this.#endAt = performance.now() + options.limitMs;
  }

  report(): FuzzReport {
    return {
      seed: this.#options.seed,
      targets: [...this.#reports.values()],
      processes: this.#processes,
      findings: [...this.#findings.values()],
    };
  }

  async everything(): Promise<void> {
    const { targets, twins, agent } = this.#house;
    // What is loaded or opened at the first use is open afterwards.
    for (const target of targets) await this.#round(target, this.#options.seed, 30);
    const before = { twins: stateOf(twins), agent: stateOf(agent) };
    await Promise.all(this.#parts.map((part) => this.#rounds(part)));
    this.#sender.close();
    await this.#checkCalls();
    for (const [name, program] of [
      ["twins", twins],
      ["agent", agent],
    ] as const) {
      await this.#checkDescriptors(name, program, before[name].descriptors);
      this.#checkMemory(name, before[name], stateOf(program));
    }
    for (const [name, program] of [
      ["agent", agent],
      ["twins", twins],
    ] as const) {
      await this.#checkEnd(name, program);
    }
  }

  get #over(): boolean {
    const { twins, agent } = this.#house;
    return performance.now() >= this.#endAt || !twins.alive || !agent.alive;
  }

  #isDone(part: string): boolean {
    return this.#over || (this.#reports.get(part)?.requests ?? 0) >= this.#share;
  }

  async #rounds({ name, round }: Part): Promise<void> {
    for (let number = 1; !this.#isDone(name); number++) await round(this.#options.seed + number);
  }

  async #round(target: Target, seed: number, requests: number): Promise<void> {
    const property = fc.asyncProperty(target.requests, async (request) => {
      const first = await this.#ask(target, request);
      // A machine that has much else to do is slow once, a slow answer is slow again.
      const verdict = first === TOO_SLOW ? await this.#ask(target, request) : first;
      if (verdict !== undefined && !this.#findings.has(keyOf(target.name, verdict)))
        throw new Broken(verdict);
    });
    await this.#check(target.name, property, seed, requests, (request) => asCurl(target.baseUrl, request));
    if (this.#house.twins.alive)
      await target
        .reset()
        .catch((error: Error) => this.#found(target.name, `reset: ${error.message}`, "", seed));
  }

  async #wireRound(wire: FuzzedHouse["wires"][number], seed: number): Promise<void> {
    const property = fc.asyncProperty(
      wire.speaks === "http" ? httpTalk : postgresTalk,
      async (connection) => {
        // A connection takes much less than a request: none of them would be left time.
        while (!this.#over && this.#connections > this.#requests) await setTimeout(PAUSE_MS);
        if (this.#isDone(wire.name)) return;
        this.#connections++;
        this.#count(wire.name, undefined, 0);
        const verdict = await talk(wire.host, wire.port, connection);
        if (verdict !== undefined && !this.#findings.has(keyOf(wire.name, verdict)))
          throw new Broken(verdict);
      },
    );
    await this.#check(wire.name, property, seed, ROUND, ({ bytes }) =>
      JSON.stringify(bytes.toString("latin1")),
    );
  }

  /** Runs a property, and notes the smallest case that breaks it. */
  async #check<T>(
    name: string,
    property: fc.IAsyncProperty<[T]>,
    seed: number,
    numRuns: number,
    show: (input: T) => string,
  ): Promise<void> {
    const details = await fc.check(property, { seed, numRuns, interruptAfterTimeLimit: ROUND_LIMIT_MS });
    if (!details.failed || details.counterexample === null) return;
    const { errorInstance: error } = details;
    const verdict = error instanceof Broken ? error.verdict : String(error);
    this.#found(name, verdict, show(details.counterexample[0]), seed);
  }

  async #ask(target: Target, request: FuzzRequest): Promise<Verdict> {
    if (this.#isDone(target.name)) return undefined;
    try {
      this.#requests++;
      if (this.#requests % 5_000 === 0) {
        this.#options.progress(`${this.#requests} requests, ${this.#findings.size} findings`);
      }
      const answer = await this.#sender.send(target.baseUrl, request);
      this.#count(target.name, answer.status, answer.tookMs);
      return judge(request, answer, target.shape, {
        folders: this.#house.folders,
        slowMs: this.#options.slowMs,
      });
    } catch (error) {
      this.#count(target.name, undefined, 0);
      return `no answer: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  #count(name: string, status: number | undefined, tookMs: number): void {
    const report = this.#reports.get(name) ?? { name, requests: 0, statuses: {}, slowestMs: 0 };
    this.#reports.set(name, report);
    report.requests++;
    report.slowestMs = Math.max(report.slowestMs, tookMs);
    const kind = status === undefined ? "none" : `${Math.floor(status / 100)}xx`;
    report.statuses[kind] = (report.statuses[kind] ?? 0) + 1;
  }

  #found(target: string, verdict: string, reproduction: string, seed: number): void {
    const key = keyOf(target, verdict);
    if (this.#findings.has(key)) return;
    this.#findings.set(key, { target, verdict, reproduction, seed });
    this.#options.progress(`found: ${target}: ${verdict}`);
  }

  /** The agent ends every call it has begun, whatever became of its caller. */
  async #checkCalls(): Promise<void> {
    if (!this.#house.twins.alive) return;
    const until = performance.now() + SETTLE_LIMIT_MS;
    let open = await this.#house.openCalls();
    while (open.length > 0 && performance.now() < until) {
      await setTimeout(500);
      open = await this.#house.openCalls();
    }
    if (open.length > 0)
      this.#found("agent", `${open.length} calls are still open: ${open[0]}`, "", this.#options.seed);
  }

  #checkMemory(name: string, before: ProcessState, after: ProcessState): void {
    this.#processes.push({
      name,
      before: { ...before.descriptors, ...before.memory },
      after: { ...after.descriptors, ...after.memory },
    });
    const { residentMb = 0 } = after.memory ?? {};
    if (residentMb > MAX_RESIDENT_MB)
      this.#found(name, `holds more than ${MAX_RESIDENT_MB} MB`, `${residentMb} MB`, this.#options.seed);
  }

  /** Descriptors are closed a moment after their connections. */
  async #checkDescriptors(name: string, program: Program, before: Descriptors | undefined): Promise<void> {
    if (!before) return;
    const until = performance.now() + SETTLE_LIMIT_MS;
    let now = program.descriptors();
    const settled = () =>
      now !== undefined &&
      now.sockets <= before.sockets + MORE_SOCKETS &&
      now.others <= before.others + MORE_DESCRIPTORS;
    while (!settled() && performance.now() < until) {
      await setTimeout(500);
      now = program.descriptors();
    }
    if (!settled()) {
      const text = `left open: ${now?.sockets} sockets (${before.sockets} at the start), ${now?.others} others (${before.others})`;
      this.#found(name, text, "", this.#options.seed);
    }
  }

  async #checkEnd(name: string, program: Program): Promise<void> {
    if (!program.alive) this.#found(name, "the process has ended by itself", "", this.#options.seed);
    const ended = await program.terminate(END_LIMIT_MS);
    if (!ended) this.#found(name, `did not end within ${END_LIMIT_MS} ms of SIGTERM`, "", this.#options.seed);
    else if (ended.code !== 0) this.#found(name, `ended with ${ended.code}`, "", this.#options.seed);
    for (const line of program.errors.slice(0, 10))
      this.#found(name, `logged an error: ${messageOf(line)}`, line, this.#options.seed);
  }
}

/** @param only names of parts, or the first words of them; empty for all parts */
export function isChosen(name: string, only: readonly string[]): boolean {
  return only.length === 0 || only.some((one) => `${name} `.startsWith(`${one} `));
}

interface ProcessState {
  descriptors: Descriptors | undefined;
  memory: Memory | undefined;
}

function stateOf(program: Program): ProcessState {
  return { descriptors: program.descriptors(), memory: program.memory() };
}

class Broken extends Error {
  override name = "Broken";
  readonly verdict: string;
  constructor(verdict: string) {
    super(verdict);
    this.verdict = verdict;
  }
}

/** The same fault in another request has another number at most. */
function keyOf(target: string, verdict: string): string {
  return `${target} ${verdict.replaceAll(/\d+/g, "0")}`;
}

function messageOf(line: string): string {
  const entry: { msg?: unknown; err?: { message?: unknown } } = JSON.parse(line);
  return `${entry.msg}: ${entry.err?.message ?? ""}`;
}
