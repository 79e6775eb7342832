/** The vendor's own client, unchanged, over HTTP. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
let service: ReturnType<SplunkSandbox["client"]>;
beforeAll(async () => {
  splunk = await startSplunk();
  service = splunk.client();
  await service.login();
  await splunk.add(
    {
      _id: "1",
      "@timestamp": "2026-01-31T09:00:00.000Z",
      host: "web-1",
      status: 200,
      message: "served a page",
    },
    {
      _id: "2",
      "@timestamp": "2026-01-31T09:00:01.500Z",
      host: "web-2",
      status: 500,
      message: "failed to serve",
    },
    {
      _id: "3",
      "@timestamp": "2026-01-31T09:01:00.000Z",
      host: "web-1",
      status: 500,
      message: "failed again",
    },
  );
});
afterAll(() => splunk.stop());

test("a login finds the version that makes the client take the v2 paths", async () => {
  expect(service.version).toBe("10.4.2");
  const other = splunk.client({ app: "search", owner: "admin" });
  await other.login();
  expect((await other.serverInfo()).properties()).toMatchObject({ version: "10.4.2", isFree: false });
  expect((await other.currentUser()).properties()).toMatchObject({ username: "admin", roles: ["admin"] });
});

test("a wrong password is told from a right one", async () => {
  const wrong = splunk.client();
  Object.assign(wrong, { password: "wrong" });
  await expect(wrong.login()).rejects.toMatchObject({ status: 401 });
});

test("a job is started, tracked to its end, read in pages and cancelled", async () => {
  const job = await service.search("search status=500 | fields host, status", {});
  const seen: string[] = [];
  await job.track(
    { period: 20 },
    {
      progress: (at: { properties(): { dispatchState: string } }) => seen.push(at.properties().dispatchState),
      done: () => seen.push("done"),
    },
  );
  expect(seen.at(-1)).toBe("done");
  expect(job.properties()).toMatchObject({ isDone: true, isFailed: false, resultCount: 2, eventCount: 2 });
  const [first] = await job.results({ count: 1 });
  expect(first).toMatchObject({ preview: false, init_offset: 0 });
  expect(first.rows).toHaveLength(1);
  const [second] = await job.results({ count: 1, offset: 1, output_mode: "json" });
  expect(second).toMatchObject({ init_offset: 1, results: [{ host: "web-2", status: "500" }] });
  expect((await service.jobs().fetch()).list().map(({ sid }) => sid)).toContain(job.sid);
  await job.cancel();
  await expect(service.getJob(job.sid)).rejects.toMatchObject({ status: 404 });
});

test("a job in the namespace of an app and an owner is found there", async () => {
  const own = splunk.client({ app: "search", owner: "admin" });
  await own.login();
  const job = await own.search("search status=200", { exec_mode: "blocking" });
  const [{ rows, fields }] = await job.results({});
  expect(rows).toHaveLength(1);
  expect(fields).toContain("_raw");
  expect((await own.getJob(job.sid)).properties().dispatchState).toBe("DONE");
  await job.cancel();
});

test("a oneshot search answers with its results and leaves no job", async () => {
  const results = await service.oneshotSearch("search status=* | head 1 | fields message", {
    output_mode: "json",
  });
  expect(results.results).toMatchObject([{ message: "failed again" }]);
  const left = (await service.jobs().fetch()).list().map((job) => job.properties().search);
  expect(left).not.toContain("search status=* | head 1 | fields message");
});

test("events, summary and timeline tell of the events before the report", async () => {
  const job = await service.search("search status=* | stats count by host", {
    exec_mode: "blocking",
    status_buckets: 10,
  });
  const [events] = await job.events({ output_mode: "json" });
  expect(events.results.map(({ host }: { host: string }) => host)).toEqual(["web-1", "web-2", "web-1"]);
  const [summary] = await job.summary({ output_mode: "json" });
  expect(summary).toMatchObject({
    event_count: 3,
    fields: {
      host: {
        count: 3,
        distinct_count: 2,
        numeric_count: 0,
        modes: [{ value: "web-1", count: 2 }, { value: "web-2" }],
      },
      status: { count: 3, numeric_count: 3, min: "200", max: "500", mean: 400 },
    },
  });
  const [timeline] = await job.timeline({ output_mode: "json" });
  expect(timeline.buckets.map((bucket: { total_count: number }) => bucket.total_count)).toEqual([2, 1]);
  const [log] = await job.searchlog();
  expect(log).toContain("INFO");
});

test("a job is paused, continued, kept longer, and says so", async () => {
  const job = await service.search("search status=* | head 1", {});
  const said = async (answer: Promise<{ data: { messages: { text: string }[] } }>) =>
    (await answer).data.messages[0]?.text;
  expect(await said(job.pause())).toBe("Search job paused.");
  expect(await said(job.unpause())).toBe("Search job continued.");
  expect(await said(job.setTTL(1200))).toBe("The ttl of the search job was changed to 1200.");
  expect(await said(job.touch())).toBe("Search job touched.");
  expect(await said(job.setPriority(7))).toContain("priority");
  expect(await said(job.finalize())).toBe("Search job finalized.");
  await job.track({ period: 20 }, { done: () => undefined });
  expect(job.properties()).toMatchObject({ isDone: true, priority: 7 });
  await job.cancel();
});

test("a search that cannot be read makes no job, and one that cannot be run fails", async () => {
  await expect(service.search("search x | nosuch", {})).rejects.toMatchObject({
    status: 400,
    data: { messages: [{ type: "FATAL", text: "Unknown search command 'nosuch'." }] },
  });
  const failed: string[] = [];
  const job = await service.search("search status=* | eval a=nosuchfunction(1)", {}).catch(() => undefined);
  if (job === undefined) return;
  await job.track({ period: 20 }, { failed: () => failed.push("failed") });
  expect(failed).toEqual(["failed"]);
  await expect(job.results({})).rejects.toMatchObject({ status: 400 });
});

test("a search is parsed", async () => {
  const parsed = await service.parse("search status=500 | head 3");
  expect(parsed.commands.map(({ command }: { command: string }) => command)).toEqual(["search", "head"]);
  await expect(service.parse("")).rejects.toMatchObject({
    status: 400,
    data: { messages: [{ type: "FATAL", text: "Invalid query." }] },
  });
});

test("saved searches are made, listed, changed, run and removed", async () => {
  const searches = service.savedSearches({ app: "search", owner: "admin" });
  const saved = await searches.create({ name: "Failures", search: "status=500 | fields host" });
  expect(saved.properties()).toMatchObject({
    search: "status=500 | fields host",
    qualifiedSearch: "search status=500 | fields host",
    disabled: false,
    "dispatch.ttl": "2p",
  });
  await expect(searches.create({ name: "Failures", search: "x" })).rejects.toMatchObject({ status: 409 });
  await saved.update({ description: "What went wrong", "dispatch.earliest_time": "0" });
  expect((await searches.fetch()).item("Failures")?.properties()).toMatchObject({
    description: "What went wrong",
    "dispatch.earliest_time": "0",
  });
  const [job] = await saved.dispatch();
  expect(job.sid).toMatch(/^admin__admin__search__RMD5[0-9a-f]{16}_at_\d+_\d+$/);
  await job.track({ period: 20 }, { done: () => undefined });
  const [{ rows }] = await job.results({});
  expect(rows).toHaveLength(2);
  const [history] = await saved.history();
  expect(history.map(({ sid }) => sid)).toEqual([job.sid]);
  await saved.remove();
  expect((await searches.fetch()).item("Failures")).toBeNull();
});

test("indexes and apps are listed with what is in them", async () => {
  const indexes = await service.indexes().fetch();
  expect(indexes.item("main")?.properties()).toMatchObject({ totalEventCount: 3, disabled: false });
  expect((await service.apps().fetch()).item("search")?.properties()).toMatchObject({ visible: true });
});
