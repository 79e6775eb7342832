/** Writes the commands as a Markdown table: the first part of `COMMANDS.md`. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { Command } from "../command.ts";
import { ignoredOptions, type UnservedOption, unservedOptions } from "../syntax/unserved-options.ts";
import { commands, notServed } from "./registry.ts";

/** What each command does, in a few words. */
export const summaries = lookupTable<string>({
  accum: "A running total of a field.",
  addcoltotals: "Adds a row with the totals of the columns.",
  addinfo: "Adds the search's time range and sid to every row.",
  addtotals: "Adds the total of each row, or of each column.",
  append: "Adds the rows of a subsearch at the end.",
  appendcols: "Adds the fields of a subsearch's rows, row by row.",
  appendpipe: "Adds the result of a pipeline over the rows at the end.",
  autoregress: "A field's values from preceding rows.",
  bin: "Puts numbers into ranges, or times into spans.",
  chart: "Aggregates as a matrix of one field, or of two.",
  collect: "Stores the rows as events.",
  contingency: "A matrix that counts how often values of two fields occur together.",
  convert: "Converts times, durations, sizes and numbers.",
  dedup: "The first rows of each combination of values.",
  delta: "The difference between a field's value and that of a preceding row.",
  eval: "Sets fields to expressions.",
  eventstats: "Adds aggregates to every row.",
  extract: "Extracts fields from key-value pairs in `_raw`.",
  fieldformat: "Changes how results show a field, not its value.",
  fields: "Keeps or removes fields.",
  fieldsummary: "Statistics about each field.",
  filldown: "Fills missing values with the last preceding one.",
  fillnull: "Replaces missing values by a constant.",
  foreach: "Repeats commands for each field, value or element.",
  format: "Turns the rows into one search expression.",
  from: "The rows of a lookup, a saved search or a data model.",
  gentimes: "Generates one row for each span of time.",
  head: "The first rows.",
  inputlookup: "The rows of a lookup table.",
  iplocation: "The location of an address: its country.",
  join: "Adds the fields of a subsearch's rows that agree in given fields.",
  loadjob: "The results of an earlier job.",
  lookup: "Adds fields from the matching rows of a lookup table.",
  makemv: "Splits a field into several values.",
  makeresults: "Generates rows, or reads them from inline data.",
  map: "Runs a search for each row.",
  metadata: "Hosts, sources or source types, with their first and last times.",
  multisearch: "Merges the events of several searches.",
  mvcombine: "Combines rows that agree in all fields but one.",
  mvexpand: "One row for each value of a field.",
  nomv: "Joins the values of a field into one.",
  outputlookup: "Writes the rows to a lookup table.",
  rangemap: "Names the ranges that a number lies in.",
  rare: "The least frequent values.",
  regex: "Filters rows by a regular expression on a field.",
  rename: "Renames fields.",
  replace: "Replaces whole values of fields.",
  rest: "The entries of one of the twin's own REST collections.",
  return: "Passes values of a subsearch to the outer search.",
  reverse: "Reverses the order of the rows.",
  rex: "Extracts fields by the groups of a regular expression, or edits a field like `sed`.",
  savedsearch: "Runs a saved search.",
  search: "Finds events, or filters rows, by a search expression.",
  set: "Union, difference or intersection of two searches.",
  setfields: "Sets fields to constants in every row.",
  sort: "Sorts the rows.",
  spath: "Extracts fields from JSON or XML.",
  stats: "Aggregates over all rows, or over groups.",
  strcat: "Concatenates fields and texts.",
  streamstats: "Adds aggregates over the preceding rows to each row.",
  table: "Exactly these fields, in this order.",
  tags: "Adds the tags of field values.",
  tail: "The last rows, in reverse order.",
  timechart: "Aggregates over time.",
  top: "The most frequent values.",
  transaction: "Combines related rows into one.",
  transpose: "Turns rows into columns.",
  trendline: "Moving averages.",
  tstats: "Aggregates over indexed fields or a data model.",
  typeahead: "Suggestions that complete a prefix.",
  union: "Adds the rows of several datasets.",
  untable: "One row for each cell of a table.",
  where: "Filters rows by an eval expression.",
  xyseries: "Pivots rows of cells into a table.",
});

/** Refusals made while a command reads its arguments. */
const otherRefusals: readonly (readonly [command: string, option: string, reason: string])[] = [
  ["chart", "`limit=-5`", "write `limit=bottom5`"],
  ["extract", "a stanza of transforms.conf", "there is no transforms.conf"],
  ["from", "`federated:`", "there is one server"],
  ["metadata", "`datatype=metric`", "there are no metrics"],
  ["stats", "no aggregate and no BY", "the result would be empty"],
  ["transaction", "`name=…`", "there is no transactiontypes.conf"],
  ["tstats", "`append=true` without `prestats=true`", "Splunk accepts it in prestats mode only"],
  [
    "tstats",
    "`prestats=true` with `latest`, `earliest`, `rate` and no `_time` in BY",
    "prestats rows do not keep the times of events",
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
    "Every option of a command either acts or is refused. These are refused, for the given reason:",
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
    "These tell Splunk how to run a command (servers, memory, preview) and change no row:",
    `${Object.entries(ignoredOptions)
      .map(([command, options]) => `\`${command}\` ${codeList(options)}`)
      .join("; ")}.`,
    "",
    "## Commands that are not served",
    "",
    `Refused by name, as \`Error in '…' command: This command is not served here.\`: ${codeList(notServed)}.`,
    "",
  ].join("\n");
}

function names({ name, aliases }: Command): string {
  return aliases.length === 0 ? `\`${name}\`` : `\`${name}\` (${codeList(aliases)})`;
}

function codeList(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(", ");
}
