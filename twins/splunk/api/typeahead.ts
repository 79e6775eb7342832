/** How a search that somebody is typing can go on: what the command of that name finds. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { VendorResponse } from "@offhook/platform/http/operation";
import type { Call } from "./call.ts";
import { readJobRequest } from "./job-arguments.ts";
import { oneshotResponse } from "./job-results.ts";
import { JSON_TYPE } from "./messages.ts";
import { outputModes } from "./output-mode.ts";
import { fatal } from "./rest-error.ts";
import { route } from "./route.ts";
import { startJob } from "./start-job.ts";

const MAX_SUGGESTIONS = 10_000;

async function typeahead(call: Call) {
  const prefix = call.arguments.get("prefix");
  if (prefix === undefined) throw fatal(400, "The prefix parameter is missing.");
  const count = Math.min(call.arguments.integer("count", 50), MAX_SUGGESTIONS);
  const text = prefix.replace(/["\\]/g, (char) => `\\${char}`);
  const job = startJob(call, readJobRequest(call, { search: `| typeahead prefix="${text}" count=${count}` }));
  const leave = () => call.twin.jobs.remove(job.sid);
  call.request.signal.addEventListener("abort", leave, { once: true });
  try {
    await job.done;
    if (call.mode === "json" && job.row?.state === "DONE") return suggested(job.rows?.rows ?? []);
    return job.rows?.rows.length === 0 ? { status: 204 } : await oneshotResponse(call, job, "csv");
  } finally {
    leave();
  }
}

/** In JSON numbers and truth values are what they are, and nothing found is a list of nothing. */
function suggested(rows: readonly ResultValue[][]): VendorResponse {
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
  handle: typeahead,
});
