/** Evaluates the alert condition of a saved search. */
import type { SettingValue } from "../conf/values.ts";
import type { Rows } from "../spl/relation/rows.ts";

export interface AlertSettings {
  /** `always`, `custom`, or what to count: `number of events`, `number of hosts`, `number of sources`. */
  readonly type: string;
  readonly comparator: string;
  readonly threshold: string;
  /** A search over the results; when set it decides alone, and any row it finds triggers the alert. */
  readonly condition: string;
}

export function alertSettings(settings: Readonly<Record<string, SettingValue>>): AlertSettings {
  const text = (name: string) => String(settings[name] ?? "").trim();
  return {
    type: text("alert_type").toLowerCase() || "always",
    comparator: text("alert_comparator").toLowerCase(),
    threshold: text("alert_threshold"),
    condition: text("alert_condition"),
  };
}

/** Result of a run, as the condition sees it. */
export interface RunResult {
  readonly rows: Rows;
  /** Number of rows of the previous run; 0 without one. */
  readonly rowsBefore: number;
  /** Counts the rows that a search over the results finds. */
  countMatches(search: string): Promise<number>;
}

export async function isTriggered(settings: AlertSettings, run: RunResult): Promise<boolean> {
  const { type, condition } = settings;
  if (condition !== "") return (await run.countMatches(condition)) > 0;
  switch (type) {
    case "always":
      return true;
    case "number of events":
      return compare(settings, run.rows.rows.length, run.rowsBefore);
    case "number of hosts":
      return compare(settings, countDistinct(run.rows, "host"), 0);
    case "number of sources":
      return compare(settings, countDistinct(run.rows, "source"), 0);
    default:
      return false;
  }
}

function countDistinct({ fields, rows }: Rows, field: string): number {
  const place = fields.findIndex(({ name }) => name === field);
  const values = rows.flatMap((row) => row[place] ?? []);
  return new Set(values.map(String)).size;
}

function compare({ comparator, threshold }: AlertSettings, value: number, before: number): boolean {
  const isPercent = /%\s*$/.test(threshold) || / perc$/.test(comparator);
  const limit = Number.parseFloat(threshold);
  if (Number.isNaN(limit)) return false;
  const change = isPercent ? (before === 0 ? 0 : ((value - before) / before) * 100) : value - before;
  switch (comparator) {
    case "greater than":
      return value > limit;
    case "less than":
      return value < limit;
    case "equal to":
      return value === limit;
    case "not equal to":
      return value !== limit;
    case "rises by":
    case "rises by perc":
      return change >= limit;
    case "drops by":
    case "drops by perc":
      return -change >= limit;
    default:
      return false;
  }
}
