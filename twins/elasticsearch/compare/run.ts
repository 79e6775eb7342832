/** Sends generated requests to the twin and to a real Elasticsearch, and shrinks what they answer differently. */

import { asCurl, type FuzzRequest } from "@offhook/platform/testing/fuzz/request";
import fc from "fast-check";
import { type ComparedAnswer, type Difference, differencesOf, errorOf } from "./differences.ts";
import { explain } from "./explained.ts";
import { type Subject, subjects } from "./requests.ts";
import { openServers, type Servers } from "./servers.ts";
import { shrink } from "./shrink.ts";

export interface CompareOptions {
  /** Address of the real server. */
  real: string;
  seed: number;
  requests: number;
  /** Only subjects whose name has one of these texts; all when empty. */
  only: readonly string[];
  /** More findings are counted, not shrunk. */
  maxFindings: number;
  progress(line: string): void;
}

interface Finding {
  subject: string;
  /** Repeats it alone: `--only <subject> --seed <seed> --requests 1`. */
  seed: number;
  request: FuzzRequest;
  /** The smallest request as a command; `$URL` is the server's address. */
  reproduction: string;
  differences: Difference[];
}

interface SubjectReport {
  name: string;
  requests: number;
  same: number;
  explained: number;
  unexplained: number;
}

export interface CompareReport {
  seed: number;
  subjects: SubjectReport[];
  /** How many requests each reason explains. */
  explanations: Record<string, number>;
  /** The first ones, shrunk. */
  findings: Finding[];
}

/** Requests under way at a time. */
const LANES = 4;
/** Longest that one finding is shrunk. */
const SHRINK_LIMIT_MS = 20_000;
const PROGRESS_EVERY = 500;

/** @throws Error when the real server does not answer */
export async function compare(options: CompareOptions): Promise<CompareReport> {
  const chosen = subjects.filter(
    ({ name }) => options.only.length === 0 || options.only.some((one) => name.includes(one)),
  );
  if (chosen.length === 0) {
    throw new Error(`--only names none of ${subjects.map(({ name }) => name).join(", ")}`);
  }
  options.progress("starting the twin, loading the documents into both");
  const servers = await openServers(options.real);
  try {
    const run = new Run(servers, options, chosen);
    await Promise.all(Array.from({ length: LANES }, () => run.lane()));
    return run.report();
  } finally {
    await servers.close();
  }
}

class Run {
  readonly #servers: Servers;
  readonly #options: CompareOptions;
  readonly #subjects: readonly Subject[];
  readonly #reports: Map<string, SubjectReport>;
  readonly #explanations: Record<string, number> = {};
  readonly #findings: Finding[] = [];
  #next = 0;

  constructor(servers: Servers, options: CompareOptions, chosen: readonly Subject[]) {
    this.#servers = servers;
    this.#options = options;
    this.#subjects = chosen;
    this.#reports = new Map(
      chosen.map(({ name }) => [name, { name, requests: 0, same: 0, explained: 0, unexplained: 0 }]),
    );
  }

  report(): CompareReport {
    const findings = this.#findings.toSorted((a, b) => a.seed - b.seed);
    return {
      seed: this.#options.seed,
      subjects: [...this.#reports.values()],
      explanations: this.#explanations,
      findings,
    };
  }

  async lane(): Promise<void> {
    while (this.#next < this.#options.requests) {
      const number = this.#next++;
      const subject = this.#subjects[number % this.#subjects.length];
      if (subject) await this.#one(subject, this.#options.seed + number);
      if (number > 0 && number % PROGRESS_EVERY === 0) this.#options.progress(`${number} requests`);
    }
  }

  /** A request has a seed of its own, which alone repeats it. */
  async #one(subject: Subject, seed: number): Promise<void> {
    const [request] = fc.sample(subject.requests, { seed: spread(seed), numRuns: 1 });
    const report = this.#reports.get(subject.name);
    if (!request || !report) return;
    const found = await this.#differences(request);
    count(report, found);
    for (const reason of new Set(found.explained)) {
      this.#explanations[reason] = (this.#explanations[reason] ?? 0) + 1;
    }
    if (found.unexplained.length === 0 || this.#findings.length >= this.#options.maxFindings) return;
    const finding: Finding = { subject: subject.name, seed, request, reproduction: "", differences: [] };
    this.#findings.push(finding);
    finding.request = await shrink(request, SHRINK_LIMIT_MS, async (smaller) => {
      const { unexplained, kind } = await this.#differences(smaller);
      return unexplained.length > 0 && kind === found.kind;
    });
    finding.reproduction = asCurl("$URL", finding.request);
    finding.differences = (await this.#differences(finding.request)).unexplained;
  }

  async #differences(request: FuzzRequest): Promise<Compared> {
    const { prefix, askReal, askTwin } = this.#servers;
    const at = { ...request, path: `/${prefix}${request.path.slice(1)}` };
    const ask = async (server: Servers["askReal"]) => neutral(await server(at), prefix);
    const [real, twin] = await Promise.all([ask(askReal), ask(askTwin)]);
    const compared: Compared = { explained: [], unexplained: [], kind: "" };
    for (const difference of differencesOf(real, twin)) {
      const reason = explain(difference, { request, real, twin });
      if (reason === undefined) compared.unexplained.push(difference);
      else compared.explained.push(reason);
    }
    compared.kind = kindOf(compared.unexplained, real, twin);
    return compared;
  }
}

interface Compared {
  /** The reasons. */
  explained: string[];
  unexplained: Difference[];
  /** Alike for what has the same cause. */
  kind: string;
}

function count(report: SubjectReport, { explained, unexplained }: Compared): void {
  report.requests++;
  if (unexplained.length > 0) report.unexplained++;
  else if (explained.length > 0) report.explained++;
  else report.same++;
}

/** The indices have other names in every run. */
function neutral(answer: ComparedAnswer, prefix: string): ComparedAnswer {
  return { ...answer, body: JSON.parse(JSON.stringify(answer.body ?? null).replaceAll(prefix, "")) };
}

/** A smaller request has to show the same: the same part of the answer, the same refusals but for what they quote. */
function kindOf([first]: readonly Difference[], real: ComparedAnswer, twin: ComparedAnswer): string {
  if (first === undefined) return "";
  const place = first.path.replaceAll(/\d+/g, "0").split(/[.[]/).slice(0, 2).join(".");
  const refusals = [real, twin].map((answer) =>
    JSON.stringify(errorOf(answer)).replaceAll(/\[[^\]]*(?:\]|$)/g, "[]"),
  );
  return [place, real.status, twin.status, ...refusals].join(" ");
}

/** Neighbouring seeds give fast-check similar numbers. */
function spread(seed: number): number {
  return Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ (seed << 13);
}
