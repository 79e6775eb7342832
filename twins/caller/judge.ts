/** Compares a call with the expectations of its scenario; each failure says what was expected and what was found. */
import { containsWords, differences, fillIn, fillInAll, show } from "./match.ts";
import { type ObservedCall, type ObservedToolCall, textsOf } from "./observed.ts";
import type { DatabaseRows, RequestRecord } from "./sandbox-client.ts";
import type { Expectations } from "./scenario.ts";

export interface Judgement {
  /** Empty: the call passed. */
  failures: string[];
  /** Expectations that could not be checked, and why. */
  unchecked: string[];
  /** The database rows that the expectations select. */
  databaseRows: { table: string; rows: Record<string, unknown>[] }[];
}

export interface JudgeOptions {
  expect: Expectations;
  call: ObservedCall;
  speed: number;
  /** Selects database rows; absent without the database twin. */
  rowsOf?: (table: string, where: Record<string, string>) => Promise<DatabaseRows>;
  /** Lists the requests to a twin during the call; absent without twins. */
  requestsOf?: (service: string) => Promise<RequestRecord[]>;
}

const NORMAL_CLOSURE = 1000;
const NOT_THE_TWIN = "the runtime is not the twin of this sandbox, so only the audio is known";

export async function judge(options: JudgeOptions): Promise<Judgement> {
  const { expect, call } = options;
  const judgement: Judgement = { failures: [], unchecked: [], databaseRows: [] };
  judgeCourse(expect, call, judgement);
  judgeResponses(options, judgement);
  judgeSpeech(expect, call, judgement);
  judgeToolCalls(expect, call, judgement);
  await judgeDatabase(options, judgement);
  await judgeRequests(options, judgement);
  return judgement;
}

/** Judges the course and the end of the call from the caller's own report. */
function judgeCourse(expect: Expectations, { report, runtime }: ObservedCall, judgement: Judgement): void {
  const { failures, unchecked } = judgement;
  if (report.outcome !== expect.outcome) {
    failures.push(`outcome: expected ${expect.outcome}, found ${report.outcome} (${report.reason})`);
  }
  if (expect.ended_by !== undefined && report.endedBy !== expect.ended_by) {
    failures.push(`ended_by: expected ${expect.ended_by}, found ${report.endedBy} (${report.reason})`);
  }
  const closeCode = expect.close_code ?? NORMAL_CLOSURE;
  if (report.outcome === "completed" && report.closeCode !== closeCode) {
    failures.push(
      `close_code: expected ${closeCode}, found ${show(report.closeCode)} ${report.closeReason ?? ""}`.trim(),
    );
  }
  if (report.undone.length > 0 && report.outcome === "completed") {
    failures.push(`the call ended before the caller could ${report.undone.join(", ")}`);
  }
  failures.push(
    ...report.missedInterruptions.map(
      (text) => `the assistant's turn was over before "${text}" could interrupt it`,
    ),
  );
  if (report.endedInsideSample && report.endedBy === "callee") {
    failures.push("the callee's audio ended in the middle of a sample: an odd number of bytes was sent");
  }
  const interruptions = report.turns.filter((turn) => turn.speaker === "callee" && turn.interrupted).length;
  if (expect.interruptions !== undefined && interruptions !== expect.interruptions) {
    failures.push(`interruptions: expected ${expect.interruptions}, found ${interruptions}`);
  }
  if (expect.ended_reason === undefined) return;
  if (runtime === undefined) unchecked.push(`ended_reason: ${NOT_THE_TWIN}`);
  else if (runtime.call.ended_reason !== expect.ended_reason) {
    failures.push(
      `ended_reason: expected ${expect.ended_reason}, found ${show(runtime.call.ended_reason ?? runtime.call.status)}`,
    );
  }
}

function judgeResponses({ expect, call, speed }: JudgeOptions, { failures, unchecked }: Judgement): void {
  const limit = expect.response_ms;
  if (limit === undefined) return;
  if (speed !== 1) {
    unchecked.push(`response_ms: judged at speed 1 only; computing takes its time at any speed`);
    return;
  }
  for (const { responseMs, text, startMs } of call.turns) {
    if (responseMs === null || responseMs <= limit) continue;
    failures.push(
      `response_ms: expected at most ${limit}, found ${responseMs} at ${startMs} ms${text === null ? "" : ` ("${text}")`}`,
    );
  }
}

function judgeSpeech(expect: Expectations, call: ObservedCall, { failures, unchecked }: Judgement): void {
  if (call.runtime === undefined) {
    for (const name of ["heard", "said", "not_said"] as const) {
      if (expect[name] !== undefined) unchecked.push(`${name}: ${NOT_THE_TWIN}`);
    }
    return;
  }
  if (expect.heard !== undefined) failures.push(...judgeHeard(expect.heard, textsOf(call, "user")));
  const said = textsOf(call, "assistant");
  failures.push(...judgeSaid(expect.said ?? [], said, call.toolCalls));
  for (const unwanted of expect.not_said ?? []) {
    const text = said.find((one) => containsWords(one, unwanted));
    if (text !== undefined) failures.push(`not_said: "${unwanted}" was said: "${text}"`);
  }
}

function judgeHeard(wanted: readonly string[], heard: readonly string[]): string[] {
  const fits =
    wanted.length === heard.length && wanted.every((part, at) => containsWords(heard[at] ?? "", part));
  return fits ? [] : [`heard: expected ${formatQuotes(wanted)}, found ${formatQuotes(heard)}`];
}

function judgeSaid(
  wanted: readonly string[],
  said: readonly string[],
  toolCalls: readonly ObservedToolCall[],
): string[] {
  const failures: string[] = [];
  const results = lastResults(toolCalls);
  let next = 0;
  for (const template of wanted) {
    const { text, missing } = fillIn(template, results);
    if (missing.length > 0) {
      failures.push(`said: "${template}" cannot be checked: no tool result has ${missing.join(", ")}`);
      continue;
    }
    const at = said.findIndex((one, index) => index >= next && containsWords(one, text));
    if (at === -1) failures.push(`said: expected "${text}", found ${formatQuotes(said.slice(next))}`);
    else next = at;
  }
  return failures;
}

function judgeToolCalls(expect: Expectations, call: ObservedCall, { failures, unchecked }: Judgement): void {
  const { toolCalls, runtime, reported } = call;
  const wanted = expect.tool_calls;
  if (runtime === undefined && reported === undefined) {
    if (wanted !== undefined)
      unchecked.push("tool_calls: neither the runtime's twin nor an engine was there");
    return;
  }
  if (wanted !== undefined) {
    const names = toolCalls.map(({ name }) => name);
    const wantedNames = wanted.map(({ tool }) => tool);
    if (names.join() === wantedNames.join()) {
      failures.push(
        ...wanted.flatMap(({ tool, arguments: args, result }, index) => [
          ...differences(args ?? {}, toolCalls[index]?.arguments, `tool_calls[${index}] ${tool} arguments`),
          ...(result === undefined
            ? []
            : differences(result, toolCalls[index]?.result, `tool_calls[${index}] ${tool} result`)),
        ]),
      );
    } else {
      failures.push(`tool_calls: expected ${formatNames(wantedNames)}, found ${formatNames(names)}`);
    }
  }
  if (runtime === undefined || reported === undefined) return;
  const told = reported.map(({ name }) => name).sort();
  const made = toolCalls.map(({ name }) => name).sort();
  if (told.join() !== made.join()) {
    failures.push(
      `every tool call should be reported to the engine: expected ${formatNames(made)}, found ${formatNames(told)}`,
    );
  }
}

async function judgeDatabase(
  { expect, call, rowsOf }: JudgeOptions,
  { failures, unchecked, databaseRows }: Judgement,
): Promise<void> {
  const results = lastResults(call.toolCalls);
  for (const { table, where, count } of expect.database ?? []) {
    const filled = Object.entries(where).map(([column, value]) => ({
      column,
      ...fillIn(String(value), results),
    }));
    const columns = Object.fromEntries(filled.map(({ column, text }) => [column, text]));
    const missing = filled.flatMap((one) => one.missing);
    if (rowsOf === undefined) {
      unchecked.push(`database: ${table} ${show(where)}: there is no database twin`);
    } else if (missing.length > 0) {
      failures.push(`database: ${table} ${show(where)}: no tool result has ${missing.join(", ")}`);
    } else {
      const { rows, total } = await rowsOf(table, columns);
      databaseRows.push({ table, rows });
      if (total !== count) {
        failures.push(
          `database: ${table} ${show(columns)}: expected ${formatCount(count)}, found ${formatCount(total)}`,
        );
      }
    }
  }
}

async function judgeRequests(
  { expect, call, requestsOf }: JudgeOptions,
  { failures, unchecked }: Judgement,
): Promise<void> {
  const results = lastResults(call.toolCalls);
  for (const { twin, where, count } of expect.requests ?? []) {
    if (requestsOf === undefined) {
      unchecked.push(`requests: ${twin} ${show(where)}: there are no twins`);
      continue;
    }
    const filled = fillInAll(where, results);
    if (filled.missing.length > 0) {
      failures.push(`requests: ${twin} ${show(where)}: no tool result has ${filled.missing.join(", ")}`);
      continue;
    }
    const requests = await requestsOf(twin);
    const found = requests.filter((record) => differences(where, record, "", results).length === 0).length;
    if (found === count) continue;
    failures.push(
      `requests: ${twin} ${show(filled.value)}: expected ${count}, found ${found} of ${requests.length} requests`,
    );
  }
}

function lastResults(toolCalls: readonly ObservedToolCall[]): Map<string, unknown> {
  return new Map(toolCalls.map(({ name, result }) => [name, result]));
}

function formatCount(count: number): string {
  return count === 1 ? "1 row" : `${count} rows`;
}

function formatNames(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}

function formatQuotes(texts: readonly string[]): string {
  return texts.length === 0 ? "nothing" : texts.map((text) => `"${text}"`).join(", ");
}
