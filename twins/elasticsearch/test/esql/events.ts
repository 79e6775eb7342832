/** A store with given events, for queries. */

import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore } from "@offhook/log-store/store/log-store";
import type { Param } from "../../esql/params.ts";
import { type EsqlResult, runEsql } from "../../esql/run.ts";
import { FieldViews } from "../../indices/visible-fields.ts";
import { compactJson } from "../../json/write.ts";
import type { Fidelity } from "../../vendor/fidelity.ts";

export const nowMs = Date.UTC(2026, 0, 15, 12);

export async function storeOf(events: readonly object[], index = "logs"): Promise<LogStore> {
  const store = await openLogStore();
  if (events.length > 0) {
    await store.write(
      events.map((event, number) => ({ id: `e${number}`, index, source: JSON.stringify(event) })),
    );
  }
  return store;
}

export interface Asked {
  params?: readonly Param[];
  fidelity?: Fidelity;
  indices?: readonly string[];
}

export function ask(
  store: LogStore,
  query: string,
  { params = [], fidelity = "specification", indices = ["logs"] }: Asked = {},
): Promise<EsqlResult> {
  return runEsql(
    { query, params, filter: undefined },
    {
      store,
      fidelity,
      nowMs,
      indices,
      aliases: new Map(),
      fieldViews: new FieldViews(),
      signal: new AbortController().signal,
    },
  );
}

/** Rows of the answer's JSON. */
export async function rows(store: LogStore, query: string, asked?: Asked): Promise<unknown[][]> {
  const { values } = await ask(store, query, asked);
  return JSON.parse(compactJson(values));
}

/** The error of a query. */
export async function refusal(store: LogStore, query: string, asked?: Asked): Promise<string> {
  try {
    await ask(store, query, asked);
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error(`this was not refused: ${query}`);
}
