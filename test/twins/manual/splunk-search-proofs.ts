/** Proofs of what the log-query twin says of who searches, of what a search is asked for with, and of jobs that go on. */
import { createHash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { holdStatements } from "@offhook/log-store/testing/held-statements";
import { expect } from "vitest";
import type { TwinUnderTest } from "../../support/every-twin.ts";
import { asAdmin, askedWith, JOBS } from "./ask-splunk.ts";
import type { Proofs } from "./proof.ts";

/** Adds an account, whose password is its name, and answers how it asks. */
async function account({ control }: TwinUnderTest, name: string, ...roles: string[]) {
  const password_sha256 = createHash("sha256").update(name).digest("hex");
  const added = await control("POST", "/data", { data: { users: [{ name, password_sha256, roles }] } });
  expect(added.status).toBe(201);
  return askedWith(`Basic ${btoa(`${name}:${name}`)}`);
}

/** Resolves when the list of jobs, which is no question about one of them, says so of a job. */
async function until(url: string, sid: string, state: string): Promise<void> {
  type Listed = { content: { sid: string; dispatchState: string } };
  const isSo = ({ content }: Listed) => content.sid === sid && content.dispatchState === state;
  while (!(await asAdmin("GET", `${url}${JOBS}?count=0`)).body.entry.some(isSo));
}

const act = (url: string, sid: string, action: string) =>
  asAdmin("POST", `${url}${JOBS}/${sid}/control`, { action });

/** An export that stands still until it is told to go on. */
async function standingExport(url: string, id: string, parameters: Record<string, string> = {}) {
  const release = holdStatements();
  const search = "search probe=1 | stats count";
  const startedAt = performance.now();
  const answered = fetch(`${url}${JOBS}/export`, {
    method: "POST",
    headers: { authorization: "Bearer splunk-twin-token" },
    body: new URLSearchParams({ search, id, output_mode: "json", ...parameters }),
  });
  await until(url, id, "RUNNING");
  await act(url, id, "pause");
  release();
  /** What it has sent when it is over; it goes on once it has sent so many previews. */
  return async (previews: number) => {
    if (previews === 0) await act(url, id, "unpause");
    const counts: [preview: boolean, count: string][] = [];
    let begun = 0;
    let rest = "";
    for await (const text of (await answered).body?.pipeThrough(new TextDecoderStream()) ?? []) {
      begun ||= performance.now() - startedAt;
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines.filter((one) => one.trim() !== "")) {
        const { preview, result } = JSON.parse(line);
        counts.push([preview, result.count]);
        if (preview && counts.length === previews) await act(url, id, "unpause");
      }
    }
    return { counts, begun };
  };
}

export const splunkSearchProofs: Proofs = {
  async "splunk.roles"(twin) {
    const { url, control } = twin;
    const { rows } = (await control("GET", "/data?entity_type=roles")).body;
    const names = rows.map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual(["admin", "power", "read_only", "user"]);
    const guest = await account(twin, "guest", "read_only");
    const search = async () => (await guest("POST", `${url}${JOBS}`, { search: "search *" })).status;
    expect(await search()).toBe(403);
    const changes = { roles: ["user"] };
    await control("PATCH", "/data", { entity_type: "users", key: "guest", changes });
    expect(await search()).toBe(201);
  },
  async "splunk.rights"(twin) {
    const { url, control } = twin;
    const [ann, bob, root] = [
      await account(twin, "ann", "user"),
      await account(twin, "bob", "power"),
      await account(twin, "root", "admin"),
    ];
    const { sid } = (await ann("POST", `${url}${JOBS}`, { search: "search *" })).body;
    const seen = async (who: typeof ann) => (await who("GET", `${url}${JOBS}/${sid}`)).status;
    expect([await seen(ann), await seen(bob), await seen(root)]).toEqual([200, 403, 200]);
    const shared = `${url}/services/saved/searches/Errors%20in%20the%20last%20hour`;
    const changed = async (who: typeof ann) => (await who("POST", shared, { description: "ours" })).status;
    expect([await changed(ann), await changed(bob), await changed(root)]).toEqual([403, 200, 200]);
    await control("POST", "/data", { data: { roles: [{ name: "searcher", capabilities: ["search"] }] } });
    const eve = await account(twin, "eve", "searcher");
    await asAdmin("POST", `${url}/services/receivers/simple?index=_internal`, { line: "probe" });
    const given = { search: "search index=_internal", exec_mode: "oneshot" };
    const found = async (who: typeof ann) => (await who("POST", `${url}${JOBS}`, given)).body.results;
    expect([await found(eve), await found(ann)]).toEqual([[], []]);
    expect(await found(root)).toMatchObject([{ index: "_internal" }]);
    const changes = { srch_indexes_allowed: ["_*"] };
    await control("PATCH", "/data", { entity_type: "roles", key: "searcher", changes });
    expect(await found(eve)).toMatchObject([{ index: "_internal" }]);
  },
  async "splunk.arguments"({ url }) {
    const start = (name: string) =>
      asAdmin("POST", `${url}${JOBS}`, { search: "search *", exec_mode: "blocking", [name]: "1" });
    for (const name of ["replay_speed", "workload_pool", "index_earliest", "index_latest"]) {
      const { status, body } = await start(name);
      expect([status, body.messages[0].text]).toEqual([400, expect.stringContaining(name)]);
    }
    const { sid } = (await start("colour")).body;
    const { content } = (await asAdmin("GET", `${url}${JOBS}/${sid}`)).body.entry[0];
    expect(content.request).toMatchObject({ colour: "1" });
    const log = await asAdmin("GET", `${url}${JOBS}/${sid}/search.log`);
    expect(log.text).toContain("argument colour is unknown: it has no effect");
  },
  async "splunk.get-search"({ url, control }) {
    const made = { search: "| makeresults count=3", exec_mode: "blocking" };
    const { sid } = (await asAdmin("POST", `${url}${JOBS}`, made)).body;
    const [first, second] = ["jobs", "v2/jobs"].map(
      (jobs) => `${url}/services/search/${jobs}/${sid}/results`,
    );
    const search = "search _time=* | head 2";
    const got = (address?: string) => asAdmin("GET", `${address}?search=${encodeURIComponent(search)}`);
    for (const address of [first, second]) {
      expect((await got(address)).status).toBe(405);
      expect((await asAdmin("POST", `${address}`, { search })).body.results).toHaveLength(2);
    }
    const row = { name: "restmap/global", settings: { v1APIBlockGETSearchLaunch: "off" } };
    await control("POST", "/data", { data: { conf_stanzas: [row] } });
    expect((await got(first)).body.results).toHaveLength(2);
    expect((await got(second)).status).toBe(405);
  },
  async "splunk.previews"({ url, control }) {
    const events = Array.from({ length: 1_001 }, (_, n) => ({
      _time: new Date(Date.UTC(2026, 0, 15, 12) + n * 1000).toISOString(),
      probe: "1",
    }));
    expect((await control("POST", "/data", { data: { events } })).status).toBe(201);
    const second = await (await standingExport(url, "second"))(1);
    expect(second.begun).toBeGreaterThan(990);
    expect([second.counts[0], second.counts.at(-1)]).toEqual([
      [true, "1000"],
      [false, "1001"],
    ]);
    const every = (seconds: string) => {
      const row = { name: "limits/search", settings: { min_preview_period: seconds } };
      return control("POST", "/data", { data: { conf_stanzas: [row] } });
    };
    await every("2");
    expect((await (await standingExport(url, "later"))(1)).begun).toBeGreaterThan(1_990);
    await every("0");
    const without = await standingExport(url, "without", { preview: "0" });
    const { counts } = await (await standingExport(url, "with"))(2);
    expect(counts).toEqual([
      [true, "1000"],
      [true, "1001"],
      [false, "1001"],
    ]);
    expect((await without(0)).counts).toEqual([[false, "1001"]]);
  },
  async "splunk.exports"({ url, control }) {
    const exported = (parameters: Record<string, string> = {}) => {
      const search = '| makeresults count=60000 | streamstats count AS n | eval text=printf("%1000d", n)';
      return fetch(`${url}${JOBS}/export`, {
        method: "POST",
        headers: { authorization: "Bearer splunk-twin-token" },
        body: new URLSearchParams({ search: `${search} | table n text`, output_mode: "csv", ...parameters }),
      });
    };
    const lines = async (answer: Promise<Response>) => (await (await answer).text()).trimEnd().split("\n");
    expect(await lines(exported())).toHaveLength(1 + 60_000);
    expect(await lines(exported({ max_count: "55000", offset: "54998" }))).toHaveLength(1 + 2);
    expect(await lines(exported({ count: "3" }))).toHaveLength(1 + 3);
    const slow = await exported({ id: "slow" });
    const listed = (await asAdmin("GET", `${url}${JOBS}?count=0`)).body.entry;
    expect(listed).toMatchObject([{ content: { sid: "slow", dispatchState: "RUNNING" } }]);
    await control("POST", "/reset", {});
    await expect(slow.text()).rejects.toThrow();
  },
  async "splunk.inactivity"({ url, control }) {
    const start = Date.parse((await control("GET", "/clock")).body.now);
    const after = (seconds: number) =>
      control("PUT", "/clock", { now: new Date(start + seconds * 1000).toISOString(), frozen: true });
    await after(0);
    const release = holdStatements();
    const started = async (parameters: Record<string, string>) => {
      const search = "search * | sort host";
      return String((await asAdmin("POST", `${url}${JOBS}`, { search, ...parameters })).body.sid);
    };
    const asked = async (sid: string) => (await asAdmin("GET", `${url}${JOBS}/${sid}`)).status;
    const lost = await started({ auto_cancel: "30" });
    const kept = await started({ auto_cancel: "30" });
    const idle = await started({ auto_pause: "25" });
    await until(url, idle, "RUNNING");
    await after(20);
    expect(await asked(kept)).toBe(200);
    await asAdmin("GET", `${url}${JOBS}?count=0`);
    await after(31);
    expect([await asked(lost), await asked(kept)]).toEqual([404, 200]);
    release();
    await until(url, idle, "PAUSE");
    await until(url, kept, "DONE");
  },
};
