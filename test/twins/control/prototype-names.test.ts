/**
 * A name that every object of JavaScript answers to is a name like any other, wherever a client may write one.
 * Proves a part of twins/SECURITY.md.
 */

import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EveryTwin, startEveryTwin } from "../../support/every-twin.ts";

const names = ["constructor", "toString", "hasOwnProperty", "__proto__"];

let every: EveryTwin;
beforeAll(async () => {
  every = await startEveryTwin();
  const { control } = every.of("elasticsearch");
  const row = { _id: "1", message: "disk is full", bytes: 5, "@timestamp": "2026-01-31T09:00:00.000Z" };
  expect((await control("POST", "/data", { data: { events: [row] } })).status).toBe(201);
});
afterAll(() => every.stop());

/** Written as text: an object literal would take `__proto__` for its prototype. */
const bodies = (name: string) => [
  `{"${name}":{}}`,
  `{"query":{"${name}":{}}}`,
  `{"query":{"term":{"${name}":"a"}}}`,
  `{"query":{"match":{"message":{"query":"disk","${name}":1}}}}`,
  `{"query":{"match":{"message":{"query":"disk","analyzer":"${name}"}}}}`,
  `{"query":{"function_score":{"${name}":{"bytes":{"origin":1,"scale":1}}}}}`,
  `{"query":{"function_score":{"gauss":{"@timestamp":{"origin":"now","scale":"1${name}"}}}}}`,
  `{"query":{"range":{"@timestamp":{"gte":"now-1${name}"}}}}`,
  `{"query":{"query_string":{"query":"${name}:a"}}}`,
  `{"aggs":{"a":{"${name}":{"field":"bytes"}}}}`,
  `{"aggs":{"${name}":{"max":{"field":"bytes"}}}}`,
  `{"aggs":{"a":{"terms":{"field":"bytes","value_type":"${name}"}}}}`,
  `{"aggs":{"a":{"date_histogram":{"field":"@timestamp","calendar_interval":"${name}"}}}}`,
  `{"aggs":{"a":{"date_histogram":{"field":"@timestamp","fixed_interval":"1${name}"}}}}`,
  `{"sort":[{"${name}":"asc"}]}`,
  `{"fields":["${name}"],"docvalue_fields":["${name}"]}`,
  `{"_source":["${name}"]}`,
  `{"highlight":{"fields":{"${name}":{}}}}`,
  `{"timeout":{"${name}":1}}`,
  `{"track_total_hits":{"${name}":1}}`,
  `{"stored_fields":{"${name}":1}}`,
  `{"min_score":{"${name}":1}}`,
  `{"search_after":{"${name}":1}}`,
];

const pipelines = (name: string) => [
  `FROM ${name}`,
  `FROM logs | ${name} x`,
  `FROM logs METADATA ${name}`,
  `ROW a = ${name}(1)`,
  `ROW a = 1 | EVAL ${name} = a | STATS ${name} = MAX(${name}) BY ${name}`,
  `ROW a = 1::${name}`,
  `ROW a = 1 ${name}`,
  `ROW a = DATE_EXTRACT("${name}", NOW())`,
  `ROW a = "x" | GROK a "%{${name}:b}"`,
  `ROW a = "x" | GROK a "%{WORD:b:${name}}"`,
  `ROW a = "x" | DISSECT a "%{${name}}"`,
];

const searches = (name: string) => [
  `search ${name}=1`,
  `search ${name}=1 earliest=-1${name}`,
  `| ${name}`,
  `| makeresults | eval ${name}=1 | table ${name}`,
  `| makeresults | eval x=${name}(1)`,
  `| makeresults | stats ${name}(x)`,
  `| makeresults | stats count as ${name} by ${name}`,
  `| makeresults | convert ${name}(x)`,
  `| makeresults | bin _time span=1${name}`,
  `| makeresults | eval x=printf("%${name}", 1)`,
  `| makeresults | lookup ${name} x`,
  `| makeresults | trendline ${name}2(x)`,
  `| gentimes start=-1 increment=1${name}`,
  `| makeresults | transaction x maxspan=1${name}`,
  `| inputlookup ${name}`,
  `| makeresults | rex "(?<${name}>x)[[:${name}:]]"`,
];

describe.each(names)("%s", (name) => {
  test.each(bodies(name))("searched for with %s", async (body) => {
    const { status, text } = await every.of("elasticsearch").vendor("POST", "/_search", body);
    expect(status, text).toBeLessThan(500);
  });

  test("named in what is searched many at a time, indexed and mapped", async () => {
    const { url } = every.of("elasticsearch");
    const asked: [string, string][] = [
      ["/_msearch", `{"${name}":1}\n{"${name}":1}\n`],
      ["/_bulk", `{"${name}":{}}\n{"a":1}\n`],
      ["/_bulk", `{"index":{"_index":"logs"}}\n{"${name}":"a"}\n`],
      ["/logs/_update/1", `{"doc":{"${name}":{"a":1}}}`],
      ["/_aliases", `{"actions":[{"${name}":{}}]}`],
      ["/_analyze", `{"analyzer":"${name}","text":"a"}`],
    ];
    for (const [path, body] of asked) {
      const headers = { "content-type": "application/x-ndjson" };
      const { status, text } = await request("POST", `${url}${path}`, { headers, body });
      expect(status, `${path}: ${text}`).toBeLessThan(500);
    }
    const stored = await request("GET", `${url}/_search?q=*`);
    expect(stored.text).toContain(`"${name}":`);
  });

  test.each(pipelines(name))("piped in %s", async (query) => {
    const { status, text } = await every.of("elasticsearch").vendor("POST", "/_query", { query });
    expect(status, text).toBeLessThan(500);
  });

  test("asked for as a setting, a file, a stanza and a member to sort by", async () => {
    const { url } = every.of("splunk");
    const headers = { authorization: "Splunk splunk-twin-token" };
    for (const path of [`macros/default/${name}`, `macros/${name}`, name]) {
      const answer = await request("GET", `${url}/services/properties/${path}`, { headers });
      expect(answer.status, answer.text).toBe(404);
    }
    const sorted = await request("GET", `${url}/services/saved/searches?sort_key=${name}`, { headers });
    expect(sorted.status, sorted.text).toBe(200);
  });

  test.each(searches(name))("searched in %s", async (search) => {
    const { url } = every.of("splunk");
    const body = new URLSearchParams({ search, exec_mode: "oneshot", output_mode: "json" }).toString();
    const headers = {
      authorization: "Splunk splunk-twin-token",
      "content-type": "application/x-www-form-urlencoded",
    };
    const { status, text } = await request("POST", `${url}/services/search/jobs`, { headers, body });
    expect(status, text).toBeLessThan(500);
  });
});
