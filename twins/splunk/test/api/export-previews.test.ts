/** What an export sends while its search goes on. */

import { holdStatements } from "@offhook/log-store/testing/held-statements";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
beforeAll(async () => {
  splunk = await startSplunk();
});
afterAll(() => splunk.stop());
beforeEach(async () => {
  await splunk.control("POST", "/reset", {});
  await splunk.add(
    ...Array.from({ length: 4 }, (_, n) => ({
      _id: `e${n}`,
      "@timestamp": new Date(Date.UTC(2026, 0, 31, 9, 0, n)).toISOString(),
      n,
      customer: `c${n % 2}`,
    })),
  );
  // A preview is due as soon as there is one.
  const row = { name: "limits/search", settings: { min_preview_period: "0" } };
  expect((await splunk.control("POST", "/data", { data: { conf_stanzas: [row] } })).status).toBe(201);
});

const JOBS = "/services/search/v2/jobs";
const REPORT = "search * | stats count by customer | sort customer";

const control = (sid: string, action: string) => splunk.ask("POST", `${JOBS}/${sid}/control`, { action });

/** An export whose search is kept from ending until so much has come, and all that has come at the end. */
async function exportedWhile(parameters: Parameters, enough: (text: string) => boolean): Promise<string> {
  const release = holdStatements();
  const body = new URLSearchParams({ search: REPORT, id: "x1", ...parameters } as Record<string, string>);
  const headers = { authorization: "Bearer splunk-twin-token" };
  const answered = fetch(`${splunk.url}${JOBS}/export`, { method: "POST", headers, body });
  await splunk.reached("x1", "RUNNING");
  await control("x1", "pause");
  release();
  const response = await answered;
  expect(response.status).toBe(200);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let isEnough = false;
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
    if (done) return text;
    text += value;
    if (isEnough || !enough(text)) continue;
    isEnough = true;
    await control("x1", "unpause");
  }
}

test("a search that goes on shows what there is so far, marked as a preview, and then its results", async () => {
  const text = await exportedWhile({ output_mode: "json" }, (sent) => sent.includes("lastrow"));
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const finals = lines.filter(({ preview }) => !preview);
  expect(finals).toEqual([
    { preview: false, offset: 0, result: { customer: "c0", count: "2" } },
    { preview: false, offset: 1, lastrow: true, result: { customer: "c1", count: "2" } },
  ]);
  expect(lines.slice(0, 2)).toEqual([
    { preview: true, offset: 0, result: { customer: "c0", count: "2" } },
    { preview: true, offset: 1, lastrow: true, result: { customer: "c1", count: "2" } },
  ]);
  expect(lines.slice(-2)).toEqual(finals);
});

test("as rows of JSON a preview is a line with a document of its own", async () => {
  const text = await exportedWhile({ output_mode: "json_rows" }, (sent) => sent.includes("]}\n"));
  const documents = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const rows = [
    ["c0", "2"],
    ["c1", "2"],
  ];
  expect(documents.at(0)).toMatchObject({ preview: true, rows });
  expect(documents.at(-1)).toMatchObject({ preview: false, rows });
  expect(documents.filter(({ preview }) => !preview)).toHaveLength(1);
});

test("in XML a preview is a document of its own behind the one declaration", async () => {
  const text = await exportedWhile({ output_mode: "xml" }, (sent) => sent.includes("</results>"));
  expect(text.match(/<\?xml/g)).toHaveLength(1);
  expect(text.indexOf("<results preview='1'>")).toBeLessThan(text.indexOf("<results preview='0'>"));
  expect(text.match(/<results preview='0'>/g)).toHaveLength(1);
});

test("events that go on are shown as they are found, and none twice in a row", async () => {
  const parameters = { output_mode: "json", search: "search * | fields n" };
  const text = await exportedWhile(parameters, (sent) => sent.includes("lastrow"));
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ preview, result }) => [preview, result.n])).toEqual([
    ...["3", "2", "1", "0"].map((n) => [true, n]),
    ...["3", "2", "1", "0"].map((n) => [false, n]),
  ]);
});

test.each([
  ["preview=0", { output_mode: "json", preview: 0 }],
  ["CSV", { output_mode: "csv" }],
  ["raw text", { output_mode: "raw" }],
  ["a search with a subsearch", { output_mode: "json", search: `${REPORT} | append [search * | head 1]` }],
  ["a search that writes", { output_mode: "json", search: `${REPORT} | outputlookup seen.csv` }],
  ["a generating search", { output_mode: "json", search: "| makeresults count=3" }],
])("no previews: %s", async (_name, parameters) => {
  const { status, text } = await splunk.ask("POST", `${JOBS}/export`, { search: REPORT, ...parameters });
  expect(status).toBe(200);
  expect(text).not.toContain('"preview":true');
});

test("results_preview of a report in the making is that of its newest events, and is counted", async () => {
  const release = holdStatements();
  const form = { output_mode: "json", search: REPORT };
  const { sid } = (await splunk.ask("POST", JOBS, form)).body;
  await splunk.reached(sid, "RUNNING");
  await control(sid, "pause");
  release();
  const { body } = await splunk.ask("GET", `${JOBS}/${sid}/results_preview`, { output_mode: "json" });
  expect(body).toMatchObject({ preview: true, results: [{ customer: "c0" }, { customer: "c1" }] });
  const { entry } = (await splunk.ask("GET", `${JOBS}/${sid}`, { output_mode: "json" })).body;
  expect(entry[0].content).toMatchObject({ numPreviews: 1, doneProgress: expect.any(Number) });
  await control(sid, "unpause");
  await splunk.reached(sid, "DONE");
});
