/** Parses a search without running it. */
import { eventCommands } from "../jobs/compile-search.ts";
import type { Content } from "../output/entry.ts";
import { DECLARATION, xmlAttribute, xmlText } from "../output/xml.ts";
import { parseSearch } from "../spl/parse-search.ts";
import type { ParsedCommand } from "../spl/syntax/ast.ts";
import { type Call, knowledgeOf } from "./call.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { dispatcherError } from "./rest-error.ts";
import { route } from "./route.ts";

const streamTypes: Record<ParsedCommand["kind"], string> = {
  streaming: "SP_STREAM",
  report: "SP_STREAMREPORT",
  events: "SP_EVENTS",
  stateful: "SP_STATEFUL",
  generating: "SP_REPORT",
};

/** The command's part that runs on the indexers. */
function preStreamingOperation({ name, rawArgs }: ParsedCommand): string {
  switch (name) {
    case "stats":
    case "chart":
    case "timechart":
    case "top":
    case "rare":
      return `pre${name === "stats" ? "stats" : name} ${rawArgs}`.trim();
    case "head":
      return `prehead limit=${/\d+/.exec(rawArgs)?.[0] ?? "10"} null=false keeplast=false`;
    default:
      return "";
  }
}

function describeCommand(command: ParsedCommand): Record<string, Content> {
  const { name, kind, rawArgs, args } = command;
  const isGenerating = kind === "generating" || name === "search";
  const preStreamingOp = preStreamingOperation(command);
  return {
    command: name,
    rawargs: rawArgs,
    pipeline: kind === "generating" ? "streaming" : kind,
    args: toContent(args, rawArgs),
    isGenerating: isGenerating && name !== "search",
    streamType: streamTypes[kind],
    isStreamingOpRequired: preStreamingOp !== "",
    preStreamingOp,
  };
}

/** The command's arguments as JSON, without functions. */
function toContent(args: unknown, rawArgs: string): Content {
  if (args === undefined || args === null) return rawArgs;
  const text = JSON.stringify(args, (_key, value: unknown) => {
    if (typeof value === "bigint") return value.toString();
    if (value instanceof Map) return Object.fromEntries(value);
    if (value instanceof Set) return [...value];
    return typeof value === "function" ? undefined : value;
  });
  return text === undefined ? rawArgs : JSON.parse(text);
}

function parseCall(call: Call): Record<string, Content> {
  const query = call.arguments.text("q");
  if (query === undefined || query.trim() === "") throw dispatcherError(400, "Invalid query.");
  const pipeline = parseSearch(query, knowledgeOf(call));
  const { commands } = pipeline;
  const onEvents = eventCommands(pipeline);
  const text = (part: readonly ParsedCommand[]) =>
    part.map(({ name, rawArgs }) => `${name} ${rawArgs}`.trim()).join(" | ");
  const isStreaming = commands.every(({ kind }) => kind === "streaming");
  return {
    remoteSearch: text(commands.slice(0, onEvents)),
    normalizedSearch: text(commands.slice(0, 1)).replace(/^search\s+/, ""),
    remoteTimeOrdered: true,
    eventsSearch: text(commands.slice(0, onEvents)),
    eventsTimeOrdered: true,
    eventsStreaming: commands.slice(0, onEvents).every(({ kind }) => kind === "streaming"),
    reportsSearch: text(commands.slice(onEvents)),
    isStreamingSearch: isStreaming,
    canSummarize: commands[onEvents]?.name === "stats",
    commands: commands.map(describeCommand),
  };
}

function parserXml(members: Record<string, Content>): string {
  const write = (name: string, value: Content, indent: string): string => {
    const { open, close } = tags(name);
    if (Array.isArray(value)) {
      const items = value.map((item) => write("item", item, `${indent}  `));
      return `${indent}${open}\n${items.join("")}${indent}${close}\n`;
    }
    if (typeof value === "object" && value !== null) {
      const inner = Object.entries(value).map(([key, one]) => write(key, one, `${indent}  `));
      return `${indent}${open}\n${inner.join("")}${indent}${close}\n`;
    }
    return `${indent}${open}${value === null ? "" : xmlText(String(value))}${close}\n`;
  };
  const body = Object.entries(members).map(([name, value]) => write(name, value, "  "));
  return `${DECLARATION}\n<response>\n${body.join("")}</response>\n`;
}

/** Tags for a name; one that is invalid for an element becomes an attribute. */
function tags(name: string): { open: string; close: string } {
  if (/^[A-Za-z_][\w.-]*$/.test(name)) return { open: `<${name}>`, close: `</${name}>` };
  return { open: `<item name="${xmlAttribute(name)}">`, close: "</item>" };
}

export const parserOperations = route({
  id: "search.parse",
  method: "POST",
  path: "/search/parser",
  capability: "search",
  v2: true,
  modes: ["xml", "json"],
  summary: "Read a search, and say how it would run.",
  handle(call) {
    const members = parseCall(call);
    if (call.mode === "json") {
      return { status: 200, headers: { "content-type": JSON_TYPE }, body: JSON.stringify(members) };
    }
    return { status: 200, headers: { "content-type": XML_TYPE }, body: parserXml(members) };
  },
});
