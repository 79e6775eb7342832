/** Requests that make the parts inside fail, to every twin: what is answered is the vendor's, by the fuzzer's own rules. */

import { type FuzzRequest, Sender } from "@offhook/platform/testing/fuzz/request";
import { innerWords, judge } from "@offhook/platform/testing/fuzz/rules";
import { COLLECTOR_TOKEN, SPLUNK_TOKEN } from "@offhook/splunk/testing/fuzz";
import { vapiRows } from "@offhook/vapi/testing/fuzz";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EveryTwin, startEveryTwin } from "../support/every-twin.ts";

let every: EveryTwin;
const sender = new Sender();
beforeAll(async () => {
  every = await startEveryTwin();
  const at = "2026-01-01T00:00:00Z";
  const document = { "@timestamp": at, message: "pool is empty", n: 5, tags: ["a", "b"], level: "error" };
  const rows: Record<string, object> = {
    elasticsearch: { events: [{ ...document, _index: "logs" }] },
    splunk: { events: [{ _time: at, _raw: "status=500 host=a user=alice", host: "a" }] },
    vapi: vapiRows,
  };
  for (const [name, data] of Object.entries(rows)) {
    const { status, body } = await every.of(name).control("POST", "/data", { data });
    expect(status, JSON.stringify(body)).toBeLessThan(300);
  }
});
afterAll(async () => {
  sender.close();
  await every.stop();
});

type Asked = [twin: string, method: string, path: string, body?: string];

const search = (body: object): Asked => ["elasticsearch", "POST", "/logs/_search", JSON.stringify(body)];
const esql = (query: string): Asked => ["elasticsearch", "POST", "/_query", JSON.stringify({ query })];
const spl = (text: string, more = ""): Asked => [
  "splunk",
  "POST",
  "/services/search/jobs",
  `search=${encodeURIComponent(text)}&exec_mode=oneshot&output_mode=json${more}`,
];
const made = '| makeresults | eval mv=split("a,b",","), s="a", x=1.5 | ';

const asked: readonly Asked[] = [
  // Fields that no event has, and columns that are of another kind than they are taken for.
  spl("| makeresults | eval w=coalesce(nope,nope2) | timechart count by w"),
  spl("| makeresults | eval w=if(a=1,n1,n2) | chart count over w by nope"),
  spl("| makeresults | eval w=case(a=1,n1) | stats count by w"),
  spl('| makeresults | eval "x\u0000y"=1'),
  spl(`${made}eval z=sum(mv, "x"), y=mv+1, w=-s`),
  spl(`${made}eval z=mv | stats avg(mv) sum(s) stdev(nope) perc95(mv) range(s) by nope`),
  spl(`${made}streamstats sum(mv) as mv window=2 | autoregress mv | trendline sma2(s) as t`),
  spl(`${made}bin span=1h s | bin bins=3 mv | makecontinuous nope`),
  spl(`${made}transpose | untable column a b | xyseries a b nope`),
  spl(`${made}eval z=strptime(mv, "%"), y=strftime("x", "%"), w=relative_time(s, "@q")`),
  // Numbers beyond every type.
  spl(`${made}eval z=x*exp(1000), y=sigfig(z*1.5), w=round(z, 99999999999), v=substr(s, exp(1000))`),
  spl(`${made}eval z=9223372036854775807+1, y=bit_shift_left(9223372036854775807, 70), w=tonumber("zz", 36)`),
  spl(`${made}eval z=strftime(1e300, "%c"), y=mvrange(0, 1e300), w=printf("%*d", 99999999999, 1)`),
  spl("| makeresults count=99999999999999999999"),
  spl("| makeresults | head 99999999999999999999 | bin span=0.0000000001 _time"),
  spl("search index=* earliest=99999999999999 | timechart span=1s count"),
  // Patterns and paths that an engine refuses.
  spl(`${made}rex field=s "(?<a>(" | regex s="[" | eval z=replace(s, "(a", "b"), y=match(s, "*")`),
  spl(`${made}where like(s, "%\\") | eval z=json_extract("{", "a{"), y=spath(s, "..{")`),
  spl(`${made}lookup nope a | inputlookup ../../etc/passwd`),
  spl("| inputlookup /etc/passwd"),
  spl("| loadjob ../../../etc | savedsearch ../x"),
  spl("| rest /services/../../etc/passwd"),
  spl("search index=* | stats count by host", "&earliest_time=1e400&latest_time=x"),
  spl(`${"(".repeat(3_000)}a`),
  spl(`| makeresults | eval x=${"1+".repeat(5_000)}1`),
  ["splunk", "GET", "/services/search/jobs/nope%2F..%2F/results?search=%7C%20stats%20avg(&output_mode=json"],
  ["splunk", "POST", "/services/data/indexes", "name=%00&output_mode=json"],
  ["splunk", "POST", "/services/saved/searches", "name=a%00b&search=%7C&output_mode=json"],
  ["splunk", "POST", "/services/receivers/simple?host_regex=(", "x"],
  ["splunk", "POST", "/services/collector", '{"event":{"a":'],
  ["splunk", "POST", "/services/collector", '{"event":{"a\\u0000":1e400,"__proto__":[]},"time":"x"}'],
  ["splunk", "POST", "/services/collector/raw?channel=x", "\ud800"],

  search({ query: { regexp: { message: "(((" } } }),
  search({ query: { query_string: { query: "message:/(/ AND n:[x TO *] \\" } } }),
  search({ query: { range: { "@timestamp": { gte: "now-99999999999y", format: "yyyy'" } } } }),
  search({ query: { range: { n: { gte: "9223372036854775808", lt: 1e308 } } } }),
  search({ query: { term: { n: "x".repeat(40_000) } } }),
  search({ query: { terms: { n: Array.from({ length: 2_000 }, (_, n) => n) } } }),
  search({
    sort: [{ nope: "desc" }, { message: { order: "asc", mode: "avg" } }],
    search_after: ["\u0000", {}],
  }),
  search({
    aggs: { a: { avg: { field: "message" } }, b: { date_histogram: { field: "n", fixed_interval: "1x" } } },
  }),
  search({ aggs: { a: { histogram: { field: "n", interval: 1e-300 } } } }),
  search({ aggs: { a: { terms: { field: "n", order: { "b>c.d": "asc" } } } } }),
  search({ aggs: { a: { cardinality: { field: "tags", precision_threshold: 1e300 } } } }),
  search({ query: { fuzzy: { message: "pol" } }, aggs: { a: { top_hits: {} } } }),
  search({ from: 1e18, size: -1 }),
  search({ query: JSON.parse(`${'{"bool":{"must":'.repeat(400)}{}${"}}".repeat(400)}`) }),
  esql(
    "FROM logs | EVAL x = n / 0, y = TO_INTEGER(9223372036854775807), z = SUBSTRING(message, 99999999999)",
  ),
  esql("FROM logs | EVAL x = 9223372036854775807 + 1 | STATS SUM(x), AVG(message) BY nope"),
  esql('FROM logs | EVAL x = DATE_PARSE("yyyy\'", message), y = DATE_TRUNC(0 day, @timestamp)'),
  esql('FROM logs | WHERE message RLIKE "((" OR message LIKE "\\\\" | EVAL z = REPLACE(message, "(", "")'),
  esql('FROM logs | GROK message "%{NOPE:x} (" | DISSECT message "%{"'),
  esql("FROM logs | LIMIT 99999999999999999999"),
  esql(
    "FROM logs | EVAL x = MV_SLICE(tags, 99999999999), y = LEFT(message, -1), z = REPEAT(message, 99999999)",
  ),
  esql("FROM ../../etc/passwd | SORT nope"),
  esql(`FROM logs | WHERE ${"(".repeat(2_000)}true`),
  ["elasticsearch", "POST", "/_bulk", '{"index":{"_index":"logs"}}\n{"n":{"a":'],
  ["elasticsearch", "POST", "/logs/_doc", '{"n":{"toString":1},"@timestamp":1e400}'],
  ["elasticsearch", "PUT", "/logs/_mapping", '{"properties":{"__proto__":{"type":[]}}}'],
  ["elasticsearch", "GET", "/logs/_search?q=%00&sort=%00&filter_path=[&format=x"],
  ["elasticsearch", "POST", "/_search/scroll", '{"scroll_id":"../../x"}'],
  ["elasticsearch", "GET", "/_cat/%ff"],

  ["vapi", "POST", "/call", '{"assistant":{"model":{"provider":"custom-llm","url":"file:///etc/passwd"}}}'],
  ["vapi", "POST", "/call", '{"transport":{"provider":"vapi.websocket","audioFormat":{"sampleRate":1e400}}}'],
  ["vapi", "GET", "/call/..%2F..%2Fetc%2Fpasswd"],
  ["vapi", "GET", "/call?limit=1e400&createdAtGt=x"],
  ["engine", "POST", "/simulations", '{"id":"../x","metadata":'],
  ["engine", "POST", "/simulations/nope/events", "[".repeat(5_000)],
  ["engine", "GET", "/simulations/%00/trace"],
];

const headers: Record<string, Record<string, string>> = {
  elasticsearch: { "content-type": "application/json" },
  splunk: { authorization: `Splunk ${SPLUNK_TOKEN}`, "content-type": "application/x-www-form-urlencoded" },
  vapi: { authorization: "Bearer vapi-twin-key", "content-type": "application/json" },
  engine: { "content-type": "application/json" },
};

/** What is wrong with the answer, by the fuzzer's rules but for how a vendor's refusal looks. */
async function verdictOn(base: string, request: FuzzRequest) {
  const answer = await sender.send(base, request);
  const limits = { folders: [process.cwd()], slowMs: Number.POSITIVE_INFINITY };
  const verdict = judge(request, answer, { refusal: () => undefined }, limits);
  return verdict && { verdict, body: answer.body.slice(0, 500) };
}

test.each(asked)("%s: %s %s %s", async (twin, method, path, body) => {
  const collects = path.includes("/collector");
  const authorization = collects ? { authorization: `Splunk ${COLLECTOR_TOKEN}` } : {};
  const request = { method, path, headers: { ...headers[twin], ...authorization }, body };
  expect(await verdictOn(every.of(twin).url, request)).toBeUndefined();
});

const control: readonly [method: string, path: string, body?: string][] = [
  ["POST", "/data", '{"data":{"nope":[{}],"__proto__":[1]}}'],
  ["POST", "/data", '{"data":{"events":[{"_time":"x"}],"documents":[{"_id":{}}],"calls":[{"id":[]}]}}'],
  ["PATCH", "/data", '{"entity_type":"__proto__","key":{"a":1},"changes":{}}'],
  ["DELETE", "/data?entity_type=nope&x=%00"],
  ["GET", "/data?entity_type=events&limit=1e400&_time=%00"],
  ["POST", "/files?name=..%2F..%2Fx", "x"],
  ["GET", "/files/..%2F..%2Fetc%2Fpasswd"],
  ["POST", "/reset", '{"data":{"rows":[{"__proto__":{}}]}}'],
  ["POST", "/reset", '{"profile":"../x"}'],
  ["PUT", "/clock", '{"now":"9999999-01-01T00:00:00Z","speed":1e400}'],
  ["PUT", "/client", '{"url":"file:///etc/passwd"}'],
  ["POST", "/faults", '{"effect":"status","match":{"json":{"__proto__":1}},"after":1e400}'],
];

test.each(control)("the control plane of every twin: %s %s %s", async (method, path, body) => {
  for (const name of ["elasticsearch", "engine", "postgres", "splunk", "vapi"]) {
    const key = { "x-api-key": every.twins.apiKey, "content-type": "application/json" };
    const request = { method, path: `/sim${path}`, headers: key, body };
    expect(await verdictOn(every.of(name).controlUrl, request), name).toBeUndefined();
  }
});

test.each([
  "SELECT nope FROM incidents",
  "SELECT 1/0",
  "SELECT 'x'::int",
  "COPY incidents FROM '/etc/nope'",
  "SELECT * FROM read_nope('/etc/passwd')",
  `SELECT ${"(".repeat(2_000)}1`,
])("the database: %s", async (query) => {
  const client = new pg.Client({ connectionString: every.of("postgres").url });
  await client.connect();
  const failure = await client.query(query).catch((error: Error) => error);
  await client.end();
  if (!(failure instanceof Error)) throw new Error(`${query} was answered`);
  const request = { method: "", path: "", headers: {}, body: query };
  expect(innerWords(request, failure.message)).toBeUndefined();
});
