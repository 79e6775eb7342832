/** What a call left behind: rows in the database, events at the engine. */
import type { ScenarioRun } from "@offhook/caller/run-scenario";
import type { Terminal } from "./terminal.ts";

export function printWitnesses({ databaseRows, reported }: ScenarioRun, terminal: Terminal): void {
  const { bold, dim, line, wrap, cut } = terminal;
  for (const { table, rows } of databaseRows) {
    line(`${bold("database")}  ${table}${rows.length === 0 ? dim(" no such row") : ""}`);
    for (const row of rows) {
      const pairs = Object.entries(row).map(([column, value]) => `${column}=${text(value)}`);
      wrap(pairs.join("  "), { indent: INDENT });
    }
  }
  for (const { name, result } of reported ?? []) {
    cut(`agent_tool_call ${name} ${JSON.stringify(result)}`, {
      indent: INDENT,
      head: `${bold("engine")}    `,
    });
  }
}

const INDENT = " ".repeat("database  ".length);

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
