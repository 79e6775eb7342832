/** Suggestions for a search that is being typed, found by the command `typeahead`. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { VendorResponse } from "@offhook/platform/http/operation";
import type { Call } from "./call.ts";
import { readJobRequest } from "./job-arguments.ts";
import { oneshotResponse } from "./job-results.ts";
import { JSON_TYPE } from "./messages.ts";
import { outputModes } from "./output-mode.ts";
import { dispatcherError } from "./rest-error.ts";
import { route } from "./route.ts";
import { startJob } from "./start-job.ts";

const MAX_SUGGESTIONS = 10_000;

async function suggest(call: Call) {
  const prefix = call.arguments.get("prefix");
  if (prefix === undefined) throw dispatcherError(400, "The prefix parameter is missing.");
  const count = Math.min(call.arguments.integer("count", 50), MAX_SUGGESTIONS);
  const text = prefix.replace(/["\\]/g, (char) => `\\${char}`);
  const job = startJob(call, readJobRequest(call, { search: `| typeahead prefix="${text}" count=${count}` }));
  const cleanUp = () => call.twin.jobs.remove(job.sid);
  call.request.signal.addEventListener("abort", cleanUp, { once: true });
  try {
    await job.done;
    if (call.mode === "json" && job.row?.state === "DONE") return suggestionsResponse(job.rows?.rows ?? []);
    return job.rows?.rows.length === 0 ? { status: 204 } : await oneshotResponse(call, job, "csv");
  } finally {
    cleanUp();
  }
}

/** Responds with suggestions in JSON, where numbers and booleans are not texts, and the list may be empty. */
function suggestionsResponse(rows: readonly ResultValue[][]): VendorResponse {
  const results = rows.map(([content, count, operator]) => ({
    content,
    count: Number(count),
    operator: operator === "true",
  }));
  return { status: 200, headers: { "content-type": JSON_TYPE }, body: JSON.stringify({ results }) };
}

export const typeaheadOperations = route({
  id: "search.typeahead",
  method: "GET",
  path: "/search/typeahead",
  capability: "get_typeahead",
  modes: ["csv", ...outputModes.filter((mode) => mode !== "atom")],
  summary: "Say how what was begun can go on.",
  handle: suggest,
});
