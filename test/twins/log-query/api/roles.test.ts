/** What accounts may do: roles, their capabilities and quotas, and what belongs to others. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sha256 } from "../../../../twins/log-query/world/seed.ts";
import { holdStatements } from "../../../support/held-statements.ts";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../../support/splunk.ts";

let splunk: SplunkSandbox;
beforeAll(async () => {
  splunk = await startSplunk();
}, 60_000);
afterAll(() => splunk.stop());
beforeEach(async () => {
  expect((await splunk.control("POST", "/reset", {})).status).toBe(200);
  await splunk.add({ _id: "1", "@timestamp": "2026-01-31T09:00:00Z", n: 1 });
  const users = ["ann", "bob", "guest", "root"].map((name) => ({
    name,
    password_sha256: sha256(name),
    roles: [{ ann: "user", bob: "power", guest: "read_only", root: "admin" }[name] ?? "user"],
  }));
  await splunk.control("POST", "/data", { data: { users } });
});

const JOBS = "/services/search/v2/jobs";
const json = { output_mode: "json" };

/** A request in somebody's name, whose password is the name. */
const as =
  (name: string) =>
  (method: string, path: string, parameters: Parameters = {}) =>
    splunk.ask(
      method,
      path,
      { ...json, ...parameters },
      {
        authorization: `Basic ${Buffer.from(`${name}:${name}`).toString("base64")}`,
      },
    );
const [ann, bob, guest, root] = [as("ann"), as("bob"), as("guest"), as("root")];

async function started(who: typeof ann, more: Parameters = {}): Promise<string> {
  const answer = await who("POST", JOBS, { search: "search * | head 1", exec_mode: "blocking", ...more });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.sid;
}

describe("a capability that the roles lack", () => {
  test.each([
    ["POST", JOBS, { search: "search *" }, "search"],
    ["POST", `${JOBS}/export`, { search: "search *" }, "search"],
    ["GET", JOBS, {}, "search"],
    ["POST", "/services/search/v2/parser", { q: "search *" }, "search"],
    ["GET", "/services/server/settings", {}, "list_settings"],
    ["POST", "/services/saved/searches", { name: "a", search: "search *" }, "edit_own_objects"],
  ])("%s %s is a 403 that names it", async (method, path, parameters, capability) => {
    const refused = await guest(method, path, parameters);
    expect([refused.status, refused.body]).toEqual([
      403,
      {
        messages: [
          {
            type: "ERROR",
            text: `You (user=guest) do not have permission to perform this operation (requires capability: ${capability}).`,
          },
        ],
      },
    ]);
    expect((await root(method, path, parameters)).status).toBeLessThan(300);
  });

  test("power users store events, users are refused in other words", async () => {
    const path = "/services/receivers/simple?index=main&output_mode=json";
    expect((await bob("POST", path, { line: 1 })).status).toBe(200);
    const refused = await ann("POST", path, { line: 1 });
    expect([refused.status, refused.body.messages]).toEqual([
      403,
      [{ type: "WARN", text: "insufficient permission to access this resource" }],
    ]);
  });

  test("a row of roles gives it", async () => {
    const role = { name: "searcher", capabilities: ["search"] };
    await splunk.control("POST", "/data", { data: { roles: [role] } });
    const where = { entity_type: "users", key: "guest" };
    await splunk.control("PATCH", "/data", { ...where, changes: { roles: ["read_only", "searcher"] } });
    expect((await guest("GET", JOBS)).status).toBe(200);
  });

  test("a schedule takes one of its own", async () => {
    const saved = { search: "search *", is_scheduled: 1, cron_schedule: "0 * * * *" };
    const refused = await ann("POST", "/services/saved/searches", { name: "hourly", ...saved });
    expect(refused.body.messages[0].text).toContain("(requires capability: schedule_search)");
    expect((await bob("POST", "/services/saved/searches", { name: "hourly", ...saved })).status).toBe(201);
  });

  test("an account says what it may do, with what its roles import", async () => {
    const path = "/services/authentication/current-context";
    const capabilities = async (who: typeof ann) =>
      (await who("GET", path)).body.entry[0].content.capabilities;
    expect(await capabilities(guest)).not.toContain("search");
    expect(await capabilities(bob)).toEqual(expect.arrayContaining(["search", "schedule_search"]));
    expect(await capabilities(root)).toEqual(expect.arrayContaining(["search", "admin_all_objects"]));
    const power = await root("GET", "/services/authorization/roles/power");
    expect(power.body.entry[0].content).toMatchObject({
      imported_roles: ["user"],
      imported_capabilities: expect.arrayContaining(["search"]),
      srchJobsQuota: 10,
      imported_srchJobsQuota: 3,
    });
  });
});

describe("what belongs to others", () => {
  test("a job is its owner's and the administrators': anybody else is refused, and does not see it listed", async () => {
    const sid = await started(ann);
    const insufficient = {
      messages: [{ type: "WARN", text: "insufficient permission to access this resource" }],
    };
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/results"],
      ["GET", "/events"],
      ["GET", "/summary"],
      ["GET", "/search.log"],
      ["POST", "/control"],
    ] as const) {
      const refused = await bob(method, `${JOBS}/${sid}${path}`, { action: "cancel" });
      expect([path, refused.status, refused.body]).toEqual([path, 403, insufficient]);
    }
    const sids = async (who: typeof ann) =>
      (await who("GET", JOBS)).body.entry.map((entry: { content: { sid: string } }) => entry.content.sid);
    expect([await sids(ann), await sids(bob), await sids(root)]).toEqual([[sid], [], [sid]]);
    expect((await bob("GET", `${JOBS}/1234.5`)).status).toBe(404);
    expect((await root("POST", `${JOBS}/${sid}/control`, { action: "cancel" })).status).toBe(200);
  });

  test("an entry says whether who asks may change it", async () => {
    const path = "/services/saved/searches/Errors%20in%20the%20last%20hour";
    const acl = async (who: typeof ann) => (await who("GET", path)).body.entry[0].acl;
    expect(await acl(ann)).toMatchObject({ can_write: false, modifiable: false, can_change_perms: false });
    expect(await acl(bob)).toMatchObject({ can_write: true, modifiable: true });
    expect(await acl(root)).toMatchObject({ can_write: true });
  });

  test("a saved search that is shared is changed by who its rights name", async () => {
    const path = "/services/saved/searches/Errors%20in%20the%20last%20hour";
    const refused = await ann("POST", path, { description: "mine" });
    expect([refused.status, refused.body.messages]).toEqual([
      403,
      [
        {
          type: "ERROR",
          text: "User 'ann' with roles { user } cannot write: /nobody/search/savedsearches/Errors in the last hour { read : [ * ], write : [ admin, power ] }, export: none, owner: nobody, removable: yes",
        },
      ],
    ]);
    expect((await ann("DELETE", path)).status).toBe(403);
    expect((await bob("POST", path, { description: "ours" })).status).toBe(200);
  });

  test("a namespace of somebody else is forbidden to who is no administrator", async () => {
    const path = "/servicesNS/bob/search/saved/searches";
    const refused = await ann("GET", path);
    expect([refused.status, refused.body]).toEqual([
      403,
      { messages: [{ type: "ERROR", text: "Action forbidden." }] },
    ]);
    for (const owner of ["ann", "nobody", "-"])
      expect((await ann("GET", `/servicesNS/${owner}/search/saved/searches`)).status).toBe(200);
    expect((await root("GET", path)).status).toBe(200);
  });

  test("accounts are seen by who manages them, and one's own by everybody", async () => {
    const names = async (who: typeof ann) =>
      (await who("GET", "/services/authentication/users")).body.entry.map(
        ({ name }: { name: string }) => name,
      );
    expect(await names(ann)).toEqual(["ann"]);
    expect(await names(root)).toEqual(["admin", "ann", "bob", "guest", "root"]);
  });

  test("one's own password is changed by who knows it, and nothing else of the account", async () => {
    const own = "/services/authentication/users/ann";
    expect((await ann("POST", own, { password: "new-secret" })).status).toBe(400);
    expect((await ann("POST", own, { password: "new-secret", oldpassword: "wrong" })).status).toBe(400);
    expect((await ann("POST", own, { password: "p", oldpassword: "ann", roles: "admin" })).status).toBe(403);
    expect((await bob("POST", own, { password: "new-secret", oldpassword: "ann" })).status).toBe(403);
    expect((await guest("POST", own, { password: "new-secret", oldpassword: "ann" })).status).toBe(403);
    const changed = await ann("POST", own, { password: "new-secret", oldpassword: "ann" });
    expect([changed.status, changed.body.entry[0].content.roles]).toEqual([200, ["user"]]);
    expect((await ann("GET", own)).status).toBe(401);
    const login = { username: "ann", password: "new-secret" };
    expect((await splunk.ask("POST", "/services/auth/login", { ...json, ...login })).status).toBe(200);
    expect((await root("POST", own, { password: "again" })).status).toBe(200);
  });

  test("settings that hold for everybody are changed by who may write to their app", async () => {
    for (const [path, given] of [
      ["/services/properties/inputs/http", { disabled: "1" }],
      ["/services/properties/limits/search/max_count", { value: "1" }],
      ["/services/properties/limits", { __stanza: "mine" }],
      ["/services/properties", { __conf: "mine" }],
    ] as const) {
      const refused = await ann("POST", path, given);
      expect([refused.status, refused.body.messages[0].text], path).toEqual([
        403,
        expect.stringContaining("User 'ann' with roles { user } cannot write: /nobody/"),
      ]);
      expect((await bob("POST", path, given)).status, path).toBeLessThan(300);
    }
  });

  test("the command rest shows what its searcher may see", async () => {
    await started(root);
    const found = async (who: typeof ann) => {
      const search = "| rest /services/search/jobs | stats count by author";
      return (await who("POST", JOBS, { search, exec_mode: "oneshot" })).body.results;
    };
    expect(await found(ann)).toEqual([{ author: "ann", count: "1" }]);
    expect(await found(root)).toEqual([{ author: "root", count: "2" }]);
  });
});

describe("the command loadjob", () => {
  const loaded = async (who: typeof ann, command: string) => {
    const answer = await who("POST", JOBS, { search: `| loadjob ${command}`, exec_mode: "oneshot" });
    return answer.status === 200 ? answer.body.results : answer.body.messages[0].text;
  };

  test("finds no job of others, unless an administrator searches", async () => {
    const sid = await started(ann, { search: "search * | stats count" });
    expect(await loaded(ann, sid)).toEqual([{ count: "1" }]);
    expect(await loaded(root, sid)).toEqual([{ count: "1" }]);
    expect(await loaded(bob, sid)).toContain(`Cannot find artifacts for search_id '${sid}'.`);
  });

  test("shows the events of a report, and a saved search's jobs from the latest on", async () => {
    const sid = await started(ann, { search: "search * | stats count" });
    expect(await loaded(ann, `${sid} events=true`)).toMatchObject([{ n: "1" }]);
    const path = "/servicesNS/root/search/saved/searches";
    expect((await root("POST", path, { name: "mine", search: "search * | stats count" })).status).toBe(201);
    for (let run = 0; run < 2; run++) {
      const { sid: of } = (await root("POST", `${path}/mine/dispatch`)).body;
      for (let state = ""; state !== "DONE"; )
        state = (await root("GET", `${JOBS}/${of}`)).body.entry[0].content.dispatchState;
      await splunk.add({ _id: `more ${run}`, "@timestamp": "2026-01-31T09:00:01Z", n: 2 });
    }
    const saved = 'savedsearch="root:search:mine"';
    expect(await loaded(root, saved)).toEqual([{ count: "2" }]);
    expect(await loaded(root, `${saved} artifact_offset=1`)).toEqual([{ count: "1" }]);
  });
});

describe("the quota of a role", () => {
  test("what is started beyond it waits, and what its client waits for is refused", async () => {
    const release = holdStatements();
    const normal = { exec_mode: "normal", search: "search * | sort n" };
    const sids = [];
    for (let n = 0; n < 4; n++) sids.push(await started(ann, normal));
    const last = (await ann("GET", `${JOBS}/${sids[3]}`)).body.entry[0].content;
    expect(last.dispatchState).toBe("QUEUED");
    for (const [path, exec_mode] of [
      [JOBS, "oneshot"],
      [JOBS, "blocking"],
      [`${JOBS}/export`, "normal"],
    ] as const) {
      const refused = await ann("POST", path, { search: "search *", exec_mode });
      expect([refused.status, refused.body.messages]).toEqual([
        503,
        [
          {
            type: "WARN",
            text: 'Search not executed: The maximum number of concurrent historical searches for this user based on their role quota has been reached., concurrency_category="historical", concurrency_context="user_instance-wide", current_concurrency=3, concurrency_limit=3',
          },
        ],
      ]);
    }
    const other = await started(bob, normal);
    expect((await bob("GET", `${JOBS}/${other}`)).body.entry[0].content.dispatchState).not.toBe("QUEUED");
    for (const sid of sids) await ann("DELETE", `${JOBS}/${sid}`);
    release();
  });
});
