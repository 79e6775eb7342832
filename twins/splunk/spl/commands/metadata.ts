/**
 * `metadata`: hosts, sources or source types of indexes, with the times of their events.
 * Source: https://help.splunk.com/splunk-enterprise/spl-search-reference/9.4/search-commands/metadata
 */
import { identifier, raw, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { columnOf, fieldValue, filter, type Output, select } from "../relation/relation.ts";
import { nullValue, numberOf, type Typed, textOf } from "../relation/typed.ts";
import { eventsOfIndexes } from "../search/indexes.ts";
import { searchEvents } from "../search/search-rows.ts";
import { oneOf, text } from "../syntax/option-types.ts";
import { rejectUnserved } from "../syntax/unserved-options.ts";
import { isThisServer } from "./this-server.ts";

const fieldOf = { hosts: "host", sources: "source", sourcetypes: "sourcetype" } as const;

export const metadata = defineCommand({
  name: "metadata",
  kind: "generating",
  parse(reader) {
    const indexes: string[] = [];
    const {
      type,
      datatype,
      splunk_server: server = "*",
      ...others
    } = reader.options({
      type: {
        ...oneOf("hosts", "sources", "sourcetypes"),
        errorMessage: () =>
          "The 'type' argument to 'metadata' must be one of the following: 'hosts', 'sources', or 'sourcetypes'.",
      },
      // May be repeated.
      index: { expected: "string", repeats: true, read: (name: string) => indexes.push(name) },
      splunk_server: text,
      splunk_server_group: text,
      datatype: {
        ...oneOf("event", "metric"),
        errorMessage: () => "Invalid 'datatype'. Possible 'datatype' values include 'event' and 'metric'.",
      },
    });
    rejectUnserved(reader, "metadata", others);
    if (datatype === "metric") reader.fail("Metrics are not served here.");
    if (type === undefined)
      return reader.fail("You must specify a 'type' argument to 'metadata', as in 'type=hosts'.");
    return { type, indexes, isHere: isThisServer(server) };
  },
  async compile({ type, indexes, isHere }, _, context) {
    const name = fieldOf[type];
    const all = await searchEvents(eventsOfIndexes(indexes), context);
    const events = isHere ? all : filter(all, raw("false"));
    const value = (field: string): Typed => {
      const column = columnOf(events, field);
      return column === undefined ? nullValue : fieldValue(column);
    };
    const [time, indexed] = [numberOf(value("_time")), numberOf(value("_indextime"))];
    const grouped = sql`SELECT ${textOf(value(name))} AS name, floor(min(${time})) AS "first", floor(max(${time})) AS "last",
        max(${indexed}) AS recent, count(*) AS total FROM (${events.select}) AS r GROUP BY 1`;
    const figure = (field: string, column: string): Output => ({
      name: field,
      value: { type: "number", multi: false, sql: identifier(column) },
    });
    return select(
      sql`SELECT *, name AS "#order0" FROM (${grouped})`,
      [
        figure("firstTime", "first"),
        { name, value: { type: "text", multi: false, sql: raw("name") } },
        figure("lastTime", "last"),
        figure("recentTime", "recent"),
        figure("totalCount", "total"),
        { name: "type", value: { type: "text", multi: false, sql: sql`CAST(${type} AS VARCHAR)` } },
      ],
      [{ column: "#order0", direction: "ASC" }],
      "report",
    );
  },
});
