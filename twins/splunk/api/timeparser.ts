/** Resolves time expressions to timestamps. */
import { DECLARATION, xmlAttribute, xmlText } from "../output/xml.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { dispatcherError } from "./rest-error.ts";
import { route } from "./route.ts";
import { readTime } from "./time-argument.ts";
import { timeFormatter } from "./time-format.ts";

export const timeParserOperations = route({
  id: "search.timeparser",
  method: "GET",
  path: "/search/timeparser",
  capability: "search",
  modes: ["xml", "json"],
  summary: "Say which moments texts such as -1d@d mean.",
  handle(call) {
    const texts = call.arguments.all("time");
    if (texts.length === 0) throw dispatcherError(400, "Missing argument: time.");
    const nowText = call.arguments.text("now");
    const nowMs = nowText === undefined ? call.twin.clock.now() : readTime(call, "now", nowText);
    const write = timeFormatter(call.arguments.text("output_time_format"), call.twin.timeZone);
    const times = texts.map((text) => [text, write(readTime(call, "time", text, nowMs) / 1000)] as const);
    if (call.mode === "json") {
      const body = JSON.stringify(Object.fromEntries(times));
      return { status: 200, headers: { "content-type": JSON_TYPE }, body };
    }
    const keys = times.map(
      ([text, time]) => `    <key name="${xmlAttribute(text)}">${xmlText(time)}</key>\n`,
    );
    const body = `${DECLARATION}\n<response>\n  <dict>\n${keys.join("")}  </dict>\n</response>\n`;
    return { status: 200, headers: { "content-type": XML_TYPE }, body };
  },
});
