/** `loadjob`: the results of an earlier job. */
import { defineCommand } from "../command.ts";
import { relationOf } from "../relation/rows.ts";
import { commandError } from "../spl-error.ts";
import { boolean, count, text } from "../syntax/option-types.ts";
import { rejectUnserved } from "../syntax/unserved-options.ts";

export const loadjob = defineCommand({
  name: "loadjob",
  kind: "generating",
  parse(reader) {
    const before = reader.options(optionTypes);
    const sid = before.savedsearch === undefined && !reader.atEnd() ? reader.text("a search id") : undefined;
    const options = { ...before, ...reader.options(optionTypes) };
    rejectUnserved(reader, "loadjob", options);
    if (sid === undefined && options.savedsearch === undefined) {
      reader.fail("A search id or a saved search is required.");
    }
    if (sid === undefined && !/^[^:]+:[^:]+:.+$/s.test(options.savedsearch ?? "")) {
      reader.fail(
        "The savedsearch argument format is invalid. Expecting '<user>:<app>:<saved search name>'.",
      );
    }
    const { events = false, artifact_offset: offset = 0 } = options;
    return { sid, savedSearch: options.savedsearch, events, offset };
  },
  async compile({ sid, savedSearch, events, offset }, _input, context) {
    const job = sid ?? savedSearch ?? "";
    const part = events ? ("events" as const) : ("results" as const);
    const rows = await context.knowledge.jobResults(job, { offset, part }, context.user);
    if (rows !== undefined) return relationOf(rows, events ? "events" : "report");
    const message =
      sid === undefined
        ? `Cannot find artifacts within the search time range for savedsearch_ident '${job}'.`
        : `Cannot find job_id '${job}'.`;
    throw commandError("loadjob", message, "run");
  },
});

const optionTypes = {
  savedsearch: text,
  events: boolean,
  job_delegate: text,
  artifact_offset: count,
  ignore_running: boolean,
};
