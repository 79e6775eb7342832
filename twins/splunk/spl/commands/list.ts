/** The commands as a table in Markdown: `COMMANDS.md` beside the folder is this. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { Command } from "../command.ts";
import { idleOptions, type UnservedOption, unservedOptions } from "../syntax/unserved-options.ts";
import { commands, notServed } from "./registry.ts";

/** What each command does, in a few words. */
export const summaries = lookupTable<string>({
  accum: "A running total of a field.",
  addcoltotals: "One more row with the totals of the columns.",
  addinfo: "The search's time range and its sid, in every row.",
  addtotals: "The total of each row, or of each column.",
  append: "The rows of a subsearch after those there are.",
  appendcols: "The fields of a subsearch's rows, row by row.",
  appendpipe: "The rows of commands over what there is, after it.",
  autoregress: "A field's values of rows before.",
  bin: "Numbers or times put into spans.",
  chart: "Aggregates as a matrix of one field, or of two.",
  collect: "Stores the rows as events.",
  contingency: "How often values of two fields meet.",
  convert: "Converts times, durations, sizes and numbers.",
  dedup: "The first rows of each combination of values.",
  delta: "The difference between a field's value and one before.",
  eval: "Fields computed by expressions.",
  eventstats: "Aggregates, added to every row.",
  extract: "Fields from pairs of keys and values in `_raw`.",
  fieldformat: "How a field is shown, its value unchanged.",
  fields: "Keeps fields, or takes them out.",
  fieldsummary: "Figures about each field.",
  filldown: "The value of the row before, where one is missing.",
  fillnull: "A value where one is missing.",
  foreach: "Commands repeated for each field, value or element.",
  format: "The rows as one search expression.",
  from: "The rows of a lookup, a saved search or a data model.",
  gentimes: "Rows for spans of time.",
  head: "The first rows.",
  inputlookup: "The rows of a lookup table.",
  iplocation: "The country of an address, in fields of a location.",
  join: "The fields of a subsearch's rows that agree in given fields.",
  loadjob: "The results of a job that has run.",
  lookup: "Fields of a lookup table's rows that match.",
  makemv: "Splits a field into several values.",
  makeresults: "Rows out of nothing.",
  map: "A search for each row.",
  metadata: "Hosts, sources or sourcetypes, with first and last times.",
  multisearch: "The rows of several searches at once.",
  mvcombine: "One row for those that differ in one field alone.",
  mvexpand: "One row for each value of a field.",
  nomv: "The values of a field as one.",
  outputlookup: "Writes the rows into a lookup table.",
  rangemap: "A word for the range that a number lies in.",
  rare: "The values that are least frequent.",
  regex: "The rows whose field matches a regular expression, or does not.",
  rename: "Other names for fields.",
  replace: "Other values for values.",
  rest: "The entries of one of the twin's own REST collections.",
  return: "What a subsearch gives to the search around it.",
  reverse: "The rows in the opposite order.",
  rex: "Fields out of a regular expression's groups, or a text changed by one.",
  savedsearch: "The rows of a saved search.",
  search: "The events, or the rows, that a search expression is true of.",
  set: "Union, intersection or difference of two subsearches.",
  setfields: "Fields with the same value in every row.",
  sort: "The rows in another order.",
  spath: "Fields out of JSON or XML.",
  stats: "Aggregates, of all rows or by fields.",
  strcat: "Joins fields and texts.",
  streamstats: "Aggregates of the rows so far.",
  table: "A table of these fields alone.",
  tags: "The tags of fields' values.",
  tail: "The last rows, in the opposite order.",
  timechart: "Aggregates over time.",
  top: "The values that are most frequent.",
  transaction: "Events that belong together, as one.",
  transpose: "Rows as columns, columns as rows.",
  trendline: "Moving averages.",
  tstats: "Aggregates of indexed fields and data models.",
  typeahead: "Terms and fields that begin with a prefix.",
  union: "The rows of several data sets.",
  untable: "One row for each cell of a table.",
  where: "The rows that an expression is true of.",
  xyseries: "A table out of rows of its cells.",
});

/** Refused where the command reads its arguments. */
const otherRefusals: readonly (readonly [command: string, option: string, reason: string])[] = [
  ["chart", "`limit=-5`", "`limit=bottom5` says it"],
  ["extract", "a stanza of transforms.conf", "there is no transforms.conf"],
  ["from", "`federated:`", "there is one server"],
  ["metadata", "`datatype=metric`", "there are no metrics"],
  ["stats", "no aggregate and no BY", "nothing would be left"],
  ["transaction", "`name=…`", "there is no transactiontypes.conf"],
  ["tstats", "`append=true` without `prestats=true`", "Splunk takes it in prestats mode only"],
  [
    "tstats",
    "`prestats=true` with `latest`, `earliest`, `rate` and no `_time` in BY",
    "the times of the events are not kept",
  ],
  ["tstats", "`FROM` a namespace or `sid=`, `PREFIX()`", "there are no tsidx files"],
];

export function commandList(): string {
  const sorted = [...commands].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    "# Commands of SPL",
    "",
    "Made from their declarations in `commands/`.",
    "",
    "| command | kind | what it does |",
    "|---|---|---|",
    ...sorted.map((command) => `| ${names(command)} | ${command.kind} | ${summaries[command.name] ?? ""} |`),
    "",
    "## Options",
    "",
    "Every option of a command acts, or is refused. These are known and refused, with their reason:",
    "",
    "| command | option | reason |",
    "|---|---|---|",
    ...Object.entries(unservedOptions).flatMap(
      ([command, options]: [string, Record<string, UnservedOption>]) =>
        Object.entries(options).map(
          ([option, { value, reason }]) =>
            `| \`${command}\` | \`${option}=${value === undefined ? "…" : value}\` | ${reason} |`,
        ),
    ),
    ...otherRefusals.map(([command, option, reason]) => `| \`${command}\` | ${option} | ${reason} |`),
    "",
    "These say how Splunk goes about a command (on how many servers, with how much memory, in which preview) and change no row:",
    `${Object.entries(idleOptions)
      .map(([command, options]) => `\`${command}\` ${listed(options)}`)
      .join("; ")}.`,
    "",
    "## Commands that are not served",
    "",
    `Refused by name, as \`Error in '…' command: This command is not served here.\`: ${listed(notServed)}.`,
    "",
  ].join("\n");
}

function names({ name, aliases }: Command): string {
  return aliases.length === 0 ? `\`${name}\`` : `\`${name}\` (${listed(aliases)})`;
}

function listed(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(", ");
}
