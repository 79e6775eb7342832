/** All commands of SPL by name: those that are served, and those of Splunk's reference that are not. */
import type { Command } from "../command.ts";
import { commandError, SplError } from "../spl-error.ts";
import { accum } from "./accum.ts";
import { addcoltotals } from "./addcoltotals.ts";
import { addinfo } from "./addinfo.ts";
import { addtotals } from "./addtotals.ts";
import { append } from "./append.ts";
import { appendcols } from "./appendcols.ts";
import { appendpipe } from "./appendpipe.ts";
import { autoregress } from "./autoregress.ts";
import { bin } from "./bin.ts";
import { chart } from "./chart.ts";
import { collect } from "./collect.ts";
import { contingency } from "./contingency.ts";
import { convert } from "./convert.ts";
import { dedup } from "./dedup.ts";
import { delta } from "./delta.ts";
import { evaluate } from "./eval.ts";
import { eventstats } from "./eventstats.ts";
import { extract } from "./extract.ts";
import { fieldformat } from "./fieldformat.ts";
import { fields } from "./fields.ts";
import { fieldsummary } from "./fieldsummary.ts";
import { filldown } from "./filldown.ts";
import { fillnull } from "./fillnull.ts";
import { foreach } from "./foreach.ts";
import { format } from "./format.ts";
import { from } from "./from.ts";
import { gentimes } from "./gentimes.ts";
import { head } from "./head.ts";
import { inputlookup } from "./inputlookup.ts";
import { iplocation } from "./iplocation.ts";
import { join } from "./join.ts";
import { loadjob } from "./loadjob.ts";
import { lookup } from "./lookup.ts";
import { makemv } from "./makemv.ts";
import { makeresults } from "./makeresults.ts";
import { map } from "./map.ts";
import { metadata } from "./metadata.ts";
import { multisearch } from "./multisearch.ts";
import { mvcombine } from "./mvcombine.ts";
import { mvexpand } from "./mvexpand.ts";
import { nomv } from "./nomv.ts";
import { outputlookup } from "./outputlookup.ts";
import { rangemap } from "./rangemap.ts";
import { rare } from "./rare.ts";
import { regex } from "./regex.ts";
import { rename } from "./rename.ts";
import { replace } from "./replace.ts";
import { rest } from "./rest.ts";
import { returns } from "./return.ts";
import { reverse } from "./reverse.ts";
import { rex } from "./rex.ts";
import { savedsearch } from "./savedsearch.ts";
import { search } from "./search.ts";
import { set } from "./set.ts";
import { setfields } from "./setfields.ts";
import { sort } from "./sort.ts";
import { spath } from "./spath.ts";
import { stats } from "./stats.ts";
import { strcat } from "./strcat.ts";
import { streamstats } from "./streamstats.ts";
import { table } from "./table.ts";
import { tags } from "./tags.ts";
import { tail } from "./tail.ts";
import { timechart } from "./timechart.ts";
import { top } from "./top.ts";
import { transaction } from "./transaction.ts";
import { transpose } from "./transpose.ts";
import { trendline } from "./trendline.ts";
import { tstats } from "./tstats.ts";
import { typeahead } from "./typeahead.ts";
import { union } from "./union.ts";
import { untable } from "./untable.ts";
import { where } from "./where.ts";
import { xyseries } from "./xyseries.ts";

/** Sorted by name. */
export const commands: readonly Command[] = [
  accum,
  addcoltotals,
  addinfo,
  addtotals,
  append,
  appendcols,
  appendpipe,
  autoregress,
  bin,
  chart,
  collect,
  contingency,
  convert,
  dedup,
  delta,
  evaluate,
  eventstats,
  extract,
  fieldformat,
  fields,
  fieldsummary,
  filldown,
  fillnull,
  foreach,
  format,
  from,
  gentimes,
  head,
  inputlookup,
  iplocation,
  join,
  loadjob,
  lookup,
  makemv,
  makeresults,
  map,
  metadata,
  multisearch,
  mvcombine,
  mvexpand,
  nomv,
  outputlookup,
  rangemap,
  rare,
  regex,
  rename,
  replace,
  rest,
  returns,
  reverse,
  rex,
  savedsearch,
  search,
  set,
  setfields,
  sort,
  spath,
  stats,
  strcat,
  streamstats,
  table,
  tags,
  tail,
  timechart,
  top,
  transaction,
  transpose,
  trendline,
  tstats,
  typeahead,
  union,
  untable,
  where,
  xyseries,
];

/** Commands of Splunk's reference that are refused by name. */
export const notServed: readonly string[] = [
  ...["abstract", "analyzefields", "anomalies", "anomalousvalue", "anomalydetection", "apply", "arules"],
  ...["associate", "audit", "awssnsalert", "bucketdir", "cluster", "cofilter", "concurrency", "correlate"],
  ...["createrss", "datamodel", "datamodelsimple", "dbinspect", "dbxquery", "delete", "deletemodel"],
  ...["diff", "dump", "entitymerge", "erex", "eventcount", "findkeywords", "findtypes", "fit", "folderize"],
  ...["fromjson", "gauge", "geom", "geomfilter", "geostats", "highlight", "history", "iconify", "inputcsv"],
  ...["inputintelligence", "kmeans", "kvform", "listmodels", "localize", "localop"],
  ...["makecontinuous", "makejson", "mcatalog", "mcollect", "metasearch", "meventcollect", "mpreview"],
  ...["msearch", "mstats", "multikv", "newseriesfilter", "nokv", "noop", "outlier", "outputcsv"],
  ...["outputraw", "outputtext", "overlap", "pivot", "predict", "rawstats", "redistribute", "relevancy"],
  ...["reltime", "require", "rtorder", "run", "runshellscript", "sample", "score", "script", "scrub"],
  ...["searchtxn", "selfjoin", "sendalert", "sendemail", "sichart", "sirare", "sistats", "sitimechart"],
  ...["sitop", "snowevent", "snoweventstream", "snowincident", "snowincidentstream", "summary"],
  ...["surrounding", "timewrap", "tojson", "tscollect", "typelearner", "typer", "uniq", "walklex", "x11"],
  ...["xmlkv", "xmlunescape", "xpath"],
  // Known to Splunk's own grammar (searchbnf.conf), though not in its reference.
  ...["collapse", "copyresults", "debug", "dfsjob", "dispatch", "editinfo", "file", "internalinputcsv"],
  ...["jsontxn", "mrollup", "outputrawr", "preview", "select", "shape", "showargs", "streamedcsv"],
  ...["tagcreate", "tagdelete", "tagset"],
];

const byName = new Map(
  commands.flatMap((command) => [command.name, ...command.aliases].map((name) => [name, command] as const)),
);
const notServedNames = new Set(notServed);

/** @param name in lower case @throws SplError when the command does not exist or is not served */
export function findCommand(name: string): Command {
  const command = byName.get(name);
  if (command !== undefined) return command;
  if (notServedNames.has(name)) throw commandError(name, "This command is not served here.");
  throw new SplError(`Unknown search command '${name}'.`);
}
