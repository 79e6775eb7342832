/**
 * What accounts may do: roles, their capabilities and quotas, and what belongs to others.
 * Proves a part of twins/SECURITY.md.
 */

import { holdStatements } from "@offhook/log-store/testing/held-statements";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";
import { sha256 } from "../../world/seed.ts";

let splunk: SplunkSandbox;
beforeAll(async () => {
  splunk = await startSplunk();
});
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
    const [said] = answer.body.messages;
    return said?.type === "FATAL" ? said.text : answer.body.results;
  };

  test("finds no job of others, unless an administrator searches", async () => {
    const sid = await started(ann, { search: "search * | stats count" });
    expect(await loaded(ann, sid)).toEqual([{ count: "1" }]);
    expect(await loaded(root, sid)).toEqual([{ count: "1" }]);
    expect(await loaded(bob, sid)).toContain(`Cannot find job_id '${sid}'.`);
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

describe("what a role lets its members find", () => {
  const AT = "2026-01-31T09:00:00Z";
  beforeEach(async () => {
    await splunk.control("PUT", "/clock", { now: "2026-01-31T10:00:00Z", frozen: true });
    const indexes = ["shop", "shop_eu", "secret"].map((name) => ({ name }));
    const written = await splunk.control("POST", "/data", {
      data: {
        indexes,
        events: [
          { _id: "2", _index: "shop", "@timestamp": AT, n: 2, team: "red" },
          { _id: "3", _index: "shop_eu", "@timestamp": AT, n: 3, team: "blue" },
          { _id: "4", _index: "secret", "@timestamp": "2026-01-31T06:00:00Z", n: 4, team: "red" },
          { _id: "5", _index: "_internal", "@timestamp": AT, n: 5, team: "red" },
        ],
      },
    });
    expect(written.status, written.text).toBeLessThan(300);
  });

  const role = async (name: string, settings: Parameters, who = "ann", roles: readonly string[] = [name]) => {
    const made = await root("POST", "/services/authorization/roles", {
      name,
      capabilities: ["search", "get_typeahead"],
      ...settings,
    });
    expect(made.status, made.text).toBe(201);
    const where = { entity_type: "users", key: who };
    expect((await splunk.control("PATCH", "/data", { ...where, changes: { roles } })).status).toBe(200);
    return made.body.entry[0].content;
  };
  const rows = async (who: typeof ann, search: string) => {
    const answer = await who("POST", JOBS, { search, exec_mode: "oneshot" });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.results;
  };
  const found = async (who: typeof ann, search: string): Promise<string> => {
    const values = await rows(who, `${search} | table n`);
    return values
      .map(({ n }: { n: string }) => n)
      .sort()
      .join("");
  };

  test.each([
    ["users all but internal ones", {}, "1234", "1"],
    ["those that are named", { srchIndexesAllowed: ["shop"], srchIndexesDefault: ["shop"] }, "2", "2"],
    ["those of a pattern", { srchIndexesAllowed: "shop*;_*", srchIndexesDefault: "*" }, "235", "23"],
    ["none when none is allowed", { srchIndexesDefault: ["shop"] }, "", ""],
    [
      "none that is disallowed",
      { srchIndexesAllowed: ["*", "_*"], srchIndexesDisallowed: ["shop*"], srchIndexesDefault: ["*"] },
      "145",
      "14",
    ],
    ["what no search names is not looked at", { srchIndexesAllowed: ["*"] }, "1234", ""],
  ])("indexes: %s", async (name, settings, named, unnamed) => {
    if (Object.keys(settings).length > 0) await role("keeper", settings);
    expect(await found(ann, "search index=* OR index=_*"), name).toBe(named);
    expect(await found(ann, "search *"), name).toBe(unnamed);
    expect(await found(root, "search index=* OR index=_*")).toBe("12345");
    expect(await found(root, "search *")).toBe("1");
  });

  test("every way to events obeys", async () => {
    await role("keeper", { srchIndexesAllowed: ["shop*"], srchIndexesDefault: ["shop"] });
    const any = "index=* OR index=_*";
    const model = { name: "M", objects: [{ name: "O", constraint: any }] };
    const saved = { name: "shared", search: any, sharing: "global" };
    await splunk.control("POST", "/data", {
      data: {
        data_models: [model],
        saved_searches: [saved],
        event_types: [{ name: "all", search: any }],
        macros: [{ name: "all", definition: any }],
      },
    });
    const counted: [search: string, count: string][] = [
      [`| tstats count where ${any}`, "2"],
      ["| tstats count", "1"],
      ["| tstats count from datamodel=M.O", "2"],
      ["| from datamodel:M.O | stats count", "2"],
      ["| from savedsearch:shared | stats count", "2"],
      ["| savedsearch shared | stats count", "2"],
      [`search ${any} | stats count`, "2"],
      ["search eventtype=all | stats count", "2"],
      ["search index=* eventtype=all | stats count", "2"],
      ["search `all` | stats count", "2"],
      [`search NOT index=nothing | stats count`, "2"],
      [`| makeresults | append [search ${any}] | search n=* | stats count`, "2"],
      [`search index=shop | join type=left team [search index=* OR index=_* | head 9] | stats count`, "1"],
      [`| union [search index=secret] [search index=shop] | stats count`, "1"],
      [`| multisearch [search index=_internal] [search index=shop] | stats count`, "1"],
      [`| makeresults | map search="search index=secret" | stats count`, "0"],
      ["| metadata type=hosts index=* index=_* | stats sum(totalCount) AS count", "2"],
    ];
    for (const [search, count] of counted) {
      expect([search, (await rows(ann, search))[0]?.count]).toEqual([search, count]);
    }
    const typed = await ann("GET", "/services/search/typeahead", { prefix: "index=", count: 50 });
    expect(typed.text).toContain("shop");
    expect(typed.text).not.toMatch(/secret|_internal/);
    const listed = (await ann("GET", "/services/data/indexes")).body.entry.map(
      ({ name }: { name: string }) => name,
    );
    expect(listed).toEqual(["shop", "shop_eu"]);
    expect((await ann("GET", "/services/data/indexes/secret")).status).toBe(404);
    expect(await rows(ann, "| rest /services/data/indexes | fields title")).toEqual([
      { title: "shop" },
      { title: "shop_eu" },
    ]);
  });

  test("filters of roles add to each other, unless one takes away; * overrides them", async () => {
    const filter = { srchIndexesAllowed: ["*"], srchIndexesDefault: ["*"] };
    await role("red", { ...filter, srchFilter: "team=red" });
    expect(await found(ann, "search *")).toBe("24");
    await role("blue", { ...filter, srchFilter: "team=blue" }, "ann", ["red", "blue"]);
    expect(await found(ann, "search * OR n=1")).toBe("234");
    const where = { entity_type: "roles", key: "blue" };
    await splunk.control("PATCH", "/data", { ...where, changes: { srch_filter_selecting: false } });
    expect(await found(ann, "search *")).toBe("");
    await role("open", { imported_roles: ["red"], srchFilter: "*" }, "ann");
    expect(await found(ann, "search *")).toBe("1234");
    await role("none", { imported_roles: ["red"] }, "ann");
    expect(await found(ann, "search *")).toBe("24");
  });

  test("a time range is as long, and begins as early, as the broadest of the roles lets it", async () => {
    const all = { srchIndexesAllowed: ["*"], srchIndexesDefault: ["*"] };
    await role("hours", { ...all, srchTimeWin: 7200 });
    expect(await found(ann, "search index=*")).toBe("123");
    expect(await found(ann, "search earliest=0 latest=2026-01-31T07:00:00 index=*")).toBe("4");
    await role("recent", { ...all, srchTimeEarliest: 1800 }, "ann");
    expect(await found(ann, "search earliest=0 index=*")).toBe("");
    await role("longer", { imported_roles: ["recent"], srchTimeEarliest: 7200 }, "ann");
    expect(await found(ann, "search index=*")).toBe("123");
    await role("ever", { imported_roles: ["recent"], srchTimeEarliest: 0 }, "ann");
    expect(await found(ann, "search index=*")).toBe("1234");
  });

  test("a role shows what it says, and what those say that it imports; what is no such thing is refused", async () => {
    const content = await role("keeper", {
      imported_roles: ["power"],
      srchIndexesAllowed: ["shop*"],
      srchIndexesDisallowed: ["secret"],
      srchFilter: "team=red",
      srchTimeWin: 60,
      srchDiskQuota: 7,
    });
    expect(content).toMatchObject({
      srchIndexesAllowed: ["shop*"],
      srchIndexesDisallowed: ["secret"],
      srchIndexesDefault: [],
      srchFilter: "team=red",
      srchTimeWin: 60,
      srchTimeEarliest: -1,
      srchDiskQuota: 7,
      imported_srchIndexesAllowed: ["*"],
      imported_srchIndexesDefault: ["main"],
      imported_srchDiskQuota: 500,
      imported_srchJobsQuota: 10,
    });
    for (const [name, value] of [
      ["srchFilter", "team=red OR"],
      ["srchIndexesAllowed", "shop index"],
      ["srchTimeWin", "-2"],
      ["srchDiskQuota", "much"],
    ] as const) {
      const refused = await root("POST", "/services/authorization/roles/keeper", { [name]: value });
      expect([refused.status, refused.body.messages[0].text]).toEqual([
        400,
        `Invalid value "${value}" for argument "${name}".`,
      ]);
    }
    const row = { name: "other", srch_filter: "team=red OR" };
    expect((await splunk.control("POST", "/data", { data: { roles: [row] } })).status).toBe(422);
  });

  test("a dataset's own field index is what counts where there is one", async () => {
    await splunk.add({ _id: "9", "@timestamp": AT, n: 9, index: "secret" });
    await role("keeper", { srchIndexesAllowed: ["*"], srchIndexesDisallowed: ["secret"] });
    expect(await found(ann, "search index=* OR index=_*")).toBe("123");
  });

  test("results that need more room than the role gives end the next search before it begins", async () => {
    await role("small", { srchIndexesAllowed: ["*"], srchIndexesDefault: ["main"], srchDiskQuota: 1 });
    const search = "| makeresults count=5000";
    expect((await ann("POST", JOBS, { search, exec_mode: "blocking" })).status).toBe(201);
    const refused = await ann("POST", JOBS, { search });
    expect([refused.status, refused.body.messages[0].text]).toEqual([
      503,
      expect.stringContaining(
        'the role-based disk usage quota of search artifacts for user "ann" has been reached (usage=1MB, quota=1MB)',
      ),
    ]);
    expect((await root("POST", JOBS, { search })).status).toBe(201);
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
