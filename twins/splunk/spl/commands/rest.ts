/** `rest`: the entries of a REST collection as rows. */
import { sql } from "@offhook/log-store/sql";
import { SERVER_NAME } from "../../product.ts";
import { defineCommand } from "../command.ts";
import { limit } from "../relation/order.ts";
import { columnOf, extend, noRows, type Relation } from "../relation/relation.ts";
import { relationOf } from "../relation/rows.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { count, text } from "../syntax/option-types.ts";
import { rejectUnserved } from "../syntax/unserved-options.ts";
import { isThisServer } from "./this-server.ts";

export const rest = defineCommand({
  name: "rest",
  kind: "generating",
  parse(reader) {
    const leading = reader.options(optionTypes);
    const { path, query } = readUri(reader);
    if (!path.startsWith("/")) {
      reader.fail("Invalid REST endpoint provided.");
    }
    const args: Record<string, string> = Object.fromEntries(new URLSearchParams(query));
    const options: {
      count?: number;
      splunk_server?: string;
      splunk_server_group?: string;
      timeout?: number;
    } = { ...leading };
    while (!reader.atEnd()) {
      const known = reader.options(optionTypes);
      Object.assign(options, known);
      if (Object.keys(known).length > 0) continue;
      const name = reader.text("the name of an argument");
      if (!reader.symbol("=")) reader.fail(`Invalid argument: '${name}'`);
      args[name] = reader.text(`the value of '${name}'`);
    }
    rejectUnserved(reader, "rest", options);
    return { path, args, ...options };
  },
  async compile({ path, args, count: maxEntries = 0, splunk_server: server = "*" }, _input, context) {
    const isHere = isThisServer(server);
    const rows = isHere ? await context.knowledge.rest(path, args, context.user) : undefined;
    if (rows === undefined) {
      context.warn({
        type: "WARN",
        text: isHere
          ? `Failed to fetch REST endpoint uri=${path} from server ${SERVER_NAME}. Check that the URI path provided exists in the REST API.`
          : `No search peers are named '${server}'.`,
      });
      return noRows;
    }
    const entries = withServer(relationOf(rows));
    return maxEntries === 0 ? entries : limit(entries, maxEntries);
  },
});

const optionTypes = { count, splunk_server: text, splunk_server_group: text, timeout: count };

/** Reads `/services/search/jobs?count=5` up to the next blank, symbols included. */
function readUri(reader: ArgumentReader): { path: string; query: string } {
  const { start } = reader.peek();
  let end = start;
  do end = reader.next().end;
  while (reader.peek().type !== "end" && reader.peek().start === end);
  const uri = reader.textOf({ start, end }).replace(/^"(.*)"$/s, "$1");
  const mark = uri.indexOf("?");
  return mark === -1 ? { path: uri, query: "" } : { path: uri.slice(0, mark), query: uri.slice(mark + 1) };
}

function withServer(relation: Relation): Relation {
  if (columnOf(relation, "splunk_server") !== undefined) return relation;
  const server = { type: "text", multi: false, sql: sql`CAST(${SERVER_NAME} AS VARCHAR)` } as const;
  return extend(relation, new Map([["splunk_server", server]]));
}
