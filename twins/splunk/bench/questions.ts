/** What `bench log-query` asks: of the twin in SPL, and of plain DuckDB in SQL written by hand. */
import type { Facts } from "@offhook/log-store/bench/facts";

type Cell = string | number;

export interface SplQuestion {
  name: string;
  /** At most this long, whatever the number of events. */
  withinMs?: number;
  search: string;
  /** The fields of a row that are compared with the columns by hand. */
  fields: readonly string[];
  statement: string;
  values?: readonly string[];
}

const services = ["checkout", "identity", "payments", "search"];

export function splQuestions({ traces }: Facts): SplQuestion[] {
  const [trace = ""] = traces;
  return [
    {
      name: "rare term",
      withinMs: 20,
      search: `search index=main ${trace} | table trace.id`,
      fields: ["trace.id"],
      statement: "SELECT trace FROM events WHERE trace = ?",
      values: [trace],
    },
    {
      name: "field filter",
      search: 'search index=main service.name=checkout log.level="error" | stats count',
      fields: ["count"],
      statement: "SELECT count(*) FROM events WHERE service = 'checkout' AND level = 'error'",
    },
    {
      name: "stats by",
      search: "search index=main | stats count avg(event.duration) AS mean by service.name",
      fields: ["service.name", "count", "mean"],
      statement: "SELECT service, count(*), avg(duration) FROM events GROUP BY 1 ORDER BY 1",
    },
    {
      name: "timechart by",
      search: "search index=main | timechart span=1h count by service.name",
      fields: services,
      statement: `SELECT ${services.map((name) => `count(*) FILTER (service = '${name}')`).join(", ")}
        FROM events GROUP BY date_trunc('hour', happened) ORDER BY date_trunc('hour', happened)`,
    },
    {
      name: "top",
      search: "search index=main | top limit=5 host.name",
      fields: ["host.name", "count"],
      statement: "SELECT host, count(*) FROM events GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
    },
    {
      name: "dedup",
      search: "search index=main | dedup host.name | table host.name trace.id | sort host.name",
      fields: ["host.name", "trace.id"],
      statement: "SELECT host, max_by(trace, happened) FROM events GROUP BY 1 ORDER BY 1",
    },
    {
      name: "rex and stats",
      search: String.raw`search index=main | rex field=message "answered (?<code>\d+)" | stats count by code`,
      fields: ["code", "count"],
      statement: String.raw`SELECT regexp_extract(message, 'answered (\d+)', 1) AS code, count(*)
        FROM events WHERE regexp_matches(message, 'answered \d+') GROUP BY 1 ORDER BY 1`,
    },
    {
      name: "transaction",
      search:
        "search index=main log.level=error | transaction host.name maxpause=1m maxevents=1000000 | stats count",
      fields: ["count"],
      statement: `SELECT count(*) FROM (
        SELECT happened - lag(happened) OVER (PARTITION BY host ORDER BY happened) AS pause FROM events WHERE level = 'error')
        WHERE pause IS NULL OR pause > INTERVAL 1 MINUTE`,
    },
    {
      name: "join",
      search:
        "search index=main log.level=error | stats count AS errors by service.name | join service.name [search index=main | stats count AS all by service.name] | table service.name errors all | sort service.name",
      fields: ["service.name", "errors", "all"],
      statement: `SELECT service, errors, total FROM
        (SELECT service, count(*) AS errors FROM events WHERE level = 'error' GROUP BY 1)
        JOIN (SELECT service, count(*) AS total FROM events GROUP BY 1) USING (service) ORDER BY 1`,
    },
    {
      name: "tstats",
      search: "| tstats count where index=main by service.name",
      fields: ["service.name", "count"],
      statement: "SELECT service, count(*) FROM events GROUP BY 1 ORDER BY 1",
    },
  ];
}

/** Where the twin's rows differ from those by hand first; `undefined` when they are the same. Numbers of SPL are texts. */
export function splDifference(
  { fields }: SplQuestion,
  rows: readonly Record<string, unknown>[],
  byHand: readonly (readonly (Cell | null)[])[],
): string | undefined {
  if (rows.length !== byHand.length) return `${rows.length} rows, not ${byHand.length}`;
  for (const [index, row] of rows.entries()) {
    const found = fields.map((field) => row[field] ?? null);
    const wanted = byHand[index] ?? [];
    if (found.every((value, place) => isSameCell(value, wanted[place] ?? null))) continue;
    return `row ${index + 1} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`;
  }
  return undefined;
}

/** Splunk shows fractions with as many digits as tell something. */
const TOLERANCE = 1e-6;

function isSameCell(found: unknown, wanted: Cell | null): boolean {
  if (typeof wanted !== "number") return found === wanted;
  return Math.abs(Number(found) - wanted) <= TOLERANCE * Math.max(1, Math.abs(wanted));
}
