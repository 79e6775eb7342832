/** What a call left behind: rows in the database, events at the engine. */
import type { ScenarioRun } from "../../twins/caller/run-scenario.ts";
import type { Terminal } from "./terminal.ts";

export function printWitnesses({ databaseRows, reported }: ScenarioRun, { bold, dim, line }: Terminal): void {
  for (const { table, rows } of databaseRows) {
    line(`${bold("database")}  ${table}${rows.length === 0 ? dim(" no such row") : ""}`);
    for (const row of rows)
      line(
        `          ${Object.entries(row)
          .map(([column, value]) => `${dim(`${column}=`)}${text(value)}`)
          .join("  ")}`,
      );
  }
  for (const { name, result } of reported ?? []) {
    line(`${bold("engine")}    agent_tool_call ${name} ${dim(shortened(JSON.stringify(result)))}`);
  }
}

const LONGEST_RESULT = 120;

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function shortened(json: string): string {
  return json.length > LONGEST_RESULT ? `${json.slice(0, LONGEST_RESULT)}…` : json;
}
