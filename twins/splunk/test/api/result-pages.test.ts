/** Pages of results beyond their ends, and searches over results by the method that asks. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
let sid: string;
beforeAll(async () => {
  splunk = await startSplunk();
  await splunk.add(
    ...Array.from({ length: 5 }, (_, n) => ({
      _id: `e${n}`,
      "@timestamp": new Date(Date.UTC(2026, 0, 31, 9, 0, n)).toISOString(),
      n,
    })),
  );
  const search = "search * | sort n | table n";
  const form = { output_mode: "json", search, exec_mode: "blocking" };
  sid = (await splunk.ask("POST", "/services/search/jobs", form)).body.sid;
});
afterAll(() => splunk.stop());

const JOBS = ["/services/search/jobs", "/services/search/v2/jobs"] as const;
const [v1, v2] = JOBS;

const asked = (method: string, place: string, parameters: Parameters, of = "results") =>
  splunk.ask(method, `${place}/${sid}/${of}`, { output_mode: "json", ...parameters });

const page = async (parameters: Parameters) => {
  const { body } = await asked("GET", v2, parameters);
  return [body.init_offset, body.results.map(({ n }: { n: string }) => Number(n))];
};

test("a page begins where it is asked to begin, counted from the end when below zero", async () => {
  expect(await page({ offset: 1, count: 2 })).toEqual([1, [1, 2]]);
  expect(await page({ offset: -2 })).toEqual([3, [3, 4]]);
  expect(await page({ offset: -2, count: 1 })).toEqual([3, [3]]);
  expect(await page({ offset: -50, count: 2 })).toEqual([0, [0, 1]]);
  expect(await page({ offset: 3, count: 0 })).toEqual([3, [3, 4]]);
});

test("a page behind the last row is empty, and says where it was to begin", async () => {
  for (const place of JOBS) {
    const beyond = await asked("GET", place, { offset: 100 });
    expect(beyond.body).toEqual({
      preview: false,
      init_offset: 100,
      post_process_count: 0,
      messages: [],
      results: [],
    });
  }
  const rows = await asked("GET", v2, { offset: 5, output_mode: "json_rows" });
  expect(rows.body).toMatchObject({ init_offset: 5, rows: [] });
});

test("a count that is no number of rows is refused by its name", async () => {
  for (const count of ["-1", "some", "1.5"]) {
    const refused = await asked("GET", v2, { count });
    expect([refused.status, refused.body.messages[0].text]).toEqual([400, "Invalid count."]);
  }
});

test("a search over results comes with a POST; a GET has it in the first version, when restmap.conf lets it", async () => {
  const search = { search: "search n>2" };
  for (const of of ["results", "results_preview", "events"]) {
    for (const place of JOBS) {
      const refused = await asked("GET", place, search, of);
      expect([refused.status, refused.headers.get("allow"), refused.body.messages]).toEqual([
        405,
        "POST",
        [{ type: "FATAL", text: "The method is not allowed." }],
      ]);
    }
  }
  for (const place of JOBS) expect((await asked("POST", place, search)).body.results).toHaveLength(2);
  const row = { name: "restmap/global", settings: { v1APIBlockGETSearchLaunch: "false" } };
  await splunk.control("POST", "/data", { data: { conf_stanzas: [row] } });
  expect((await asked("GET", v1, search)).body.results).toHaveLength(2);
  expect((await asked("GET", v2, search)).status).toBe(405);
  await splunk.control("DELETE", "/data", { entity_type: "conf_stanzas", key: row.name });
});

test("an export is asked for with a GET or a POST", async () => {
  const search = { search: "search * | head 1", output_mode: "json" };
  for (const place of JOBS) {
    const got = await splunk.ask("GET", `${place}/export`, search);
    const posted = await splunk.ask("POST", `${place}/export`, search);
    expect([got.status, posted.status]).toEqual([200, 200]);
    expect(got.text).toBe(posted.text);
  }
});
