/** The outcomes as a table a command, and as a list of reasons. */
import type { Outcome } from "./measure.ts";

/** In Markdown: the commands by how many searches use them. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const names = [...new Set(outcomes.flatMap(({ commands }) => [...commands]))];
  const rows = names
    .map((name) => ({ name, uses: outcomes.filter(({ commands }) => commands.has(name)) }))
    .sort((a, b) => b.uses.length - a.uses.length || (a.name < b.name ? -1 : 1))
    .map(({ name, uses }) => [name, ...countsOf(name, uses)]);
  const total = ["all", ...countsOf("", outcomes)];
  const header = ["command", "served", "searches", "read", "run"];
  return [header, ["---", "---", "--:", "--:", "--:"], ...rows, total]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function countsOf(name: string, uses: readonly Outcome[]): string[] {
  const served = name === "" ? "" : uses.some(({ refused }) => refused.has(name)) ? "no" : "yes";
  const read = uses.filter(({ unread }) => unread === undefined).length;
  const run = uses.filter(({ failed }) => failed === undefined).length;
  return [served, String(uses.length), share(read, uses.length), share(run, uses.length)];
}

function share(part: number, whole: number): string {
  return part === whole ? String(part) : `${part} (${((100 * part) / whole).toFixed(1)} %)`;
}

/** Why searches do not run, the most frequent first, each with one of them. */
export function reasonsOf(outcomes: readonly Outcome[]): string {
  const reasons = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    if (outcome.failed === undefined) continue;
    reasons.set(outcome.failed, [...(reasons.get(outcome.failed) ?? []), outcome]);
  }
  return [...reasons]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([reason, failed]) => `${String(failed.length).padStart(5)}  ${reason}  (${failed[0]?.file})`)
    .join("\n");
}
