/** SPL: searches of every command that is served, most of them of arguments it takes, and of some that are not. */

import { field as anyField, phrase as anyPhrase } from "@offhook/platform/testing/fuzz/fields";
import { hostileString, list, maybe, option, text, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";
import { condition, expression } from "./spl-expression.ts";

/** What the dataset's events have, and what the commands before may have made. */
const field = fc.oneof(
  { weight: 12, arbitrary: words("host source sourcetype _time _raw x n s mv service.name log.level") },
  {
    weight: 6,
    arbitrary: words(
      "http.response.status_code event.duration message url.path tags tags{} count nope index",
    ),
  },
  { weight: 2, arbitrary: text`"${words("a_b service.name")}"` },
  { weight: 1, arbitrary: anyField },
);
const newField = fc.oneof(
  { weight: 8, arbitrary: words("x n s mv z _time host nope") },
  { weight: 1, arbitrary: words('\'a.b\' "q_r" "a{}" "é"') },
  { weight: 1, arbitrary: hostileString.map((value) => JSON.stringify(value.slice(0, 100))) },
);
const numeric = words("x n _time count event.duration http.response.status_code nope host");
const literal = fc.oneof(
  { weight: 8, arbitrary: words('1 0 -1 2.5 "x" "" "checkout" "200" "a,b" "[" "*" "c*"') },
  { weight: 1, arbitrary: hostileString.map((value) => JSON.stringify(value)) },
);
const phrase = fc.oneof(
  { weight: 8, arbitrary: words("checkout answered 200 info the ch*t checkout-2 GET pool -x ü") },
  {
    weight: 4,
    arbitrary: words('"answered_200" "pool_exhausted" "GET_/api"').map((one) => one.replace("_", " ")),
  },
  { weight: 1, arbitrary: anyPhrase.filter((one) => !/[|"[\]()`]/.test(one)) },
);
const name = maybe(text` as ${words("x n q_r count total")}`);
const aggregate = fc.oneof(
  text`${words("count c dc(host) values(host) list(x) first(x) latest(_raw) p95(n) perc99.5(x) estdc(host) mode(s)")}${name}`,
  text`${words("avg max min median range stdev stdevp var varp sum sumsq exactperc50 upperperc90 mean")}(${numeric})${name}`,
  text`${words("count dc mode first last earliest latest earliest_time latest_time list values min max estdc_error")}(${field})${name}`,
  text`${words("rate rate_sum per_second per_minute per_hour per_day")}(${numeric})${name}`,
  text`${words("count avg sum max dc values list")}(eval(${fc.oneof(condition, expression)})) as ${words("x n y")}`,
  text`sparkline(${words("count avg(x)")}${maybe(words(",1h"))})`,
);
const aggregates = list(aggregate, ", ");
const by = maybe(text` by ${list(field, ", ")}`);
const fields = list(field, ", ");
const timeSpan = option(
  "span=1h span=5m@h bins=10 span=1mon limit=2 useother=f cont=f usenull=f partial=f minspan=1m",
);
const chartOptions = option(
  "limit=2 limit=bottom3 useother=f usenull=f cont=f nullstr=none otherstr=rest bins=3 agg=max",
);
const numberSpan = option("span=10 bins=5 span=1log10 minspan=2 start=0_end=100").map((one) =>
  one.replace("_", " "),
);
const term = fc.oneof(
  { weight: 5, arbitrary: phrase },
  {
    weight: 3,
    arbitrary: text`${field}${words("= != < > >= <=")}${fc.oneof(words('1 200 x* "ab" * checkout info'), literal)}`,
  },
  { weight: 1, arbitrary: text`${field} IN (${list(words('a b* 200 "x" checkout'), ", ")})` },
  { weight: 1, arbitrary: text`NOT ${phrase}` },
  { weight: 1, arbitrary: text`(${phrase} ${words("OR AND")} ${phrase})` },
  {
    weight: 2,
    arbitrary: words(
      "index=* index=main earliest=0 latest=now TERM(answered) CASE(GET) splunk_server=* sourcetype=*",
    ),
  },
);
const brokenTerm = fc.oneof(
  words('earliest=x NOT OR AND ( ) eventtype=x tag=y `m` " [ x= IN'),
  hostileString,
);
/** Most events are of another time than now: without it few are found. */
const searched = fc.oneof(
  { weight: 15, arbitrary: text`earliest=0 ${list(term, " ", { min: 0, max: 3 })}` },
  { weight: 1, arbitrary: list(fc.oneof(term, brokenTerm), " ") },
);

interface Tree {
  command: string;
  pipeline: string;
}
const { pipeline } = fc.letrec<Tree>((tie: fc.LetrecTypedTie<Tree>) => {
  const subsearch = text`[ search ${searched}${maybe(words("|head_3 |stats_count_by_host").map((one) => one.replaceAll("_", " ")))}${tie("pipeline")} ]`;
  const served = fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 8, arbitrary: text`eval ${list(text`${newField}=${expression}`, ", ")}` },
    { weight: 4, arbitrary: text`where ${condition}` },
    { weight: 6, arbitrary: text`stats ${aggregates}${by}` },
    { weight: 2, arbitrary: text`eventstats ${aggregates}${by}` },
    {
      weight: 2,
      arbitrary: text`streamstats${option("window=3 current=f global=f time_window=1h reset_on_change=t")} ${aggregates}${by}`,
    },
    { weight: 4, arbitrary: text`timechart${timeSpan} ${aggregate}${maybe(text` by ${field}`)}` },
    {
      weight: 4,
      arbitrary: text`chart${chartOptions} ${aggregate} ${fc.oneof(text`over ${field}${numberSpan}${maybe(text` by ${field}`)}`, text`by ${field}${maybe(text` ${field}`)}`)}`,
    },
    {
      weight: 2,
      arbitrary: text`${words("top rare")}${option("limit=3 showperc=f countfield=x useother=t")} ${fields}${by}`,
    },
    text`search ${list(term, " ")}`,
    {
      weight: 2,
      arbitrary: text`${fc.oneof(
        text`${words("fields table")}${option("+ -")} `,
        words("fields_- fields_+").map((one) => one.replace("_", " ")),
      )}${fields}`,
    },
    { weight: 2, arbitrary: text`rename ${list(text`${field} ${words("as AS to ->")} ${newField}`, ", ")}` },
    {
      weight: 2,
      arbitrary: text`dedup${option("2")} ${list(field, " ")}${option("keepevents=t consecutive=t keepempty=t sortby_-x").map((one) => one.replace("_", " "))}`,
    },
    {
      weight: 3,
      arbitrary: text`sort ${maybe(words("0 5 10"))} ${list(text`${maybe(words("- +"))}${fc.oneof(field, text`${words("num str auto ip")}(${field})`)}`, ", ")}`,
    },
    { weight: 2, arbitrary: text`${words("head tail")} ${maybe(words("3 0 100"))}` },
    text`head ${fc.oneof(text`(${condition})`, words("limit=2 limit=2_null=t"))}${option("keeplast=t null=t")}`.map(
      (one) => one.replace("_", " "),
    ),
    {
      weight: 2,
      arbitrary: text`rex${option("field=x field=_raw max_match=2 max_match=0")} ${fc.constantFrom('"(?<a>\\\\w+)"', '"(?<s>\\\\d+)(?<z>x)?"', '"(?=x)(?<b>.)"', '"(?<a>(a+)+)$"')}`,
    },
    text`rex${option("field=x")} mode=sed ${fc.constantFrom('"s/a/b/g"', '"y/abc/xyz/"', '"s/(\\\\w)/\\\\1\\\\1/2"')}`,
    text`regex ${fc.oneof(words("_raw host nope x"), field)}${words("= !=")}"${words("c.* \\\\d+ ^$ (a+)+$")}"`,
    {
      weight: 2,
      arbitrary: text`bin ${fc.oneof(numeric, field)}${fc.oneof(numberSpan, words(" span=1h"))}${maybe(text` as ${newField}`)}`,
    },
    text`fillnull${option("value=0 value=none")} ${maybe(list(field, " "))}`,
    text`filldown ${maybe(field)}`,
    text`makemv${option('delim="," tokenizer="(\\\\w)" allowempty=t')} ${field}`,
    text`mvexpand ${field}${option("limit=2")}`,
    text`mvcombine${option('delim=","')} ${field}`,
    text`nomv ${field}`,
    text`accum ${numeric}${maybe(text` as ${newField}`)}`,
    text`delta ${numeric}${maybe(text` as ${newField}`)}${option("p=2")}`,
    text`autoregress ${field}${maybe(text` as ${newField}`)}${option("p=1-2 p=2")}`,
    { weight: 2, arbitrary: text`append${option("maxout=5 extendtimerange=t")} ${subsearch}` },
    text`appendcols${option("override=t maxout=5")} ${subsearch}`,
    text`join${option("type=left type=outer max=0 usetime=t overwrite=f")} ${maybe(fields)} ${subsearch}`,
    text`union ${list(subsearch, " ")}`,
    text`appendpipe [ ${words("stats_count head_2 where_x>1 eval_z=1 stats_sum(x)_as_x").map((one) => one.replaceAll("_", " "))} ]`,
    text`map${option("maxsearches=2")} search="search earliest=0 host=$host$ | head 1"`,
    text`foreach ${words("* x_* n s")} [ eval <<FIELD>>=${expression} ]`,
    text`foreach mv mode=multivalue [ eval z=coalesce(z,0)+<<ITEM>> ]`,
    text`transaction ${maybe(list(field, " "))}${option("maxspan=1m maxpause=5s maxevents=2 keepevicted=t mvlist=t")}${option('startswith="GET" endswith=eval(x>1)')}`,
    text`lookup hosts.csv host${maybe(text` as ${field}`)}${maybe(text` ${words("OUTPUT OUTPUTNEW")} team${maybe(text` as ${newField}`)}`)}`,
    text`outputlookup${option("append=t max=2 create_empty=f")} ${words("made.csv hosts.csv")}`,
    text`spath${option("input=message output=z path=a.b{}.c")} ${maybe(field)}`,
    text`xyseries ${field} ${field} ${field}`,
    text`untable ${field} ${newField} ${newField}`,
    text`contingency${option("maxrows=2 usetotal=f mincolcover=0.5")} ${field} ${field}`,
    text`transpose ${maybe(words("5 0 column_name=z header_field=host include_empty=f"))}`,
    text`trendline ${words("sma2 ema10 wma5")}(${numeric})${maybe(text` as ${newField}`)}`,
    text`convert${option("timeformat=%F")} ${words("ctime num dur2sec auto rmunit memk none mktime mstime rmcomma")}(${field})${maybe(text` as ${newField}`)}`,
    text`rangemap field=${numeric} low=0-1 ${words("high=2-100 mid=-5--1 default=y")}`,
    text`replace ${literal} with ${literal} in ${field}`,
    text`strcat${option("allrequired=t")} ${list(fc.oneof(field, literal), " ")} ${words("x z")}`,
    text`addtotals${option("row=t col=t labelfield=host fieldname=sum")} ${maybe(fields)}`,
    text`addcoltotals${option("labelfield=host label=all")} ${maybe(fields)}`,
    text`fieldsummary${option("maxvals=3")} ${maybe(fields)}`,
    text`${words("reverse format addinfo kv extract tags")}`,
    text`return ${words("3 2")} ${list(text`${maybe(words("$ z="))}${words("host x nope")}`, " ")}`,
    text`setfields z="a"`,
    text`iplocation${option("prefix=z_ allfields=t lang=de lang=x")} ${words("host s nope mv source.ip")}`,
    text`fieldformat ${words("x n s")}=${expression}`,
    text`collect index=main${option("marker=a=b testmode=t addtime=f")}`,
  );
  const refused = fc.oneof(
    text`head ${words("x>1 bogusarg -1")}`,
    text`bin ${field} span=x`,
    text`rex ${words('"(?<a>[)" "(a+)+$" "x" mode=sed')}`,
    text`eval ${hostileString}=${expression}`,
    text`stats ${words("nope(x) avg() count( sum(x")}${by}`,
    text`multisearch ${subsearch} ${subsearch}`,
    text`set ${words("union diff intersect x")} ${subsearch} ${subsearch}`,
    text`lookup nope ${field}`,
    text`${words("savedsearch loadjob from inputlookup")} ${words("x lookup:x 1234.5 nope.csv")}`,
    text`${words("predict anomalies cluster kmeans geostats mstats sendemail script nope")} ${maybe(field)}`,
    hostileString,
  );
  return {
    pipeline: fc.array(tie("command"), { maxLength: 4 }).map((all) => all.map((one) => ` | ${one}`).join("")),
    command: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      { weight: 40, arbitrary: served },
      { weight: 1, arbitrary: refused },
    ),
  };
});

const generating = fc.oneof(
  text`makeresults${option("count=3 annotate=t count=0 splunk_server=local")}`,
  fc.constant('makeresults format=csv data="x,n,s\n1,2,a\n3,,b"'),
  text`makeresults count=5 | streamstats count as n | eval x=n%3, s="a".x, mv=split("a,b,".n, ",")`,
  text`tstats ${words("count dc(host) values(host) max(_time) sum(PREFIX(duration=))")} where ${words("index=* index=main host=c*")}${maybe(text` by ${words('host sourcetype _time index PREFIX(service=) PREFIX(a) PREFIX("x:)')}`)}${option("span=1h")}`,
  text`metadata type=${words("hosts sources sourcetypes")}${option("index=* splunk_server=*")}`,
  text`gentimes start=${words("-3 1/1/26")}${option("increment=6h end=1/3/26")}`,
  text`rest ${words("/services/server/info /services/saved/searches /services/apps/local /services/data/indexes")}${option("splunk_server=local count=2")}`,
  text`inputlookup hosts.csv${option("where_host=a append=t max=1").map((one) => one.replace("_", " "))}`,
  text`${words("union set_diff multisearch").map((one) => one.replace("_", " "))} [ search ${searched} ] [ search ${searched} ]`,
  {
    weight: 2,
    arbitrary: fc.constant(
      'makeresults count=4 | streamstats count as n | eval host="checkout-".n, team="t".(n%2) | fields - _time | outputlookup hosts.csv',
    ),
  },
  text`typeahead prefix=${words("s host= x")} count=3`,
);

export const spl = fc.oneof(
  { weight: 24, arbitrary: text`search ${searched}${pipeline}` },
  { weight: 12, arbitrary: text`| ${generating}${pipeline}` },
  { weight: 1, arbitrary: text`${searched}${pipeline}` },
  { weight: 1, arbitrary: hostileString },
);
