/** What is somebody's, in an app: of one name everybody may have one, and each is found where it is. */

import type { Answer } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Parameters, type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
let alice: Record<string, string>;
beforeAll(async () => {
  splunk = await startSplunk();
});
afterAll(() => splunk.stop());
beforeEach(async () => {
  await splunk.control("POST", "/reset");
  await splunk.ask("POST", "/services/authentication/users", {
    ...{ name: "alice", password: "alice-password", roles: "user" },
  });
  alice = { authorization: `Basic ${Buffer.from("alice:alice-password").toString("base64")}` };
});

interface Listed {
  entry: { name: string; acl: { owner: string; sharing: string }; content: Record<string, unknown> }[];
}

/** Kinds of owned things: where they are, what one is made of and changed to, and what of it is read back. */
const kinds = [
  {
    ...{ what: "a saved search", path: "/saved/searches", shown: "search" },
    ...{ one: { search: "one" }, other: { search: "other" }, changed: { search: "changed" } },
  },
  {
    ...{ what: "a macro", path: "/configs/conf-macros", shown: "definition" },
    ...{ one: { definition: "one" }, other: { definition: "other" }, changed: { definition: "changed" } },
  },
  {
    ...{ what: "a page", path: "/data/ui/views", shown: "eai:data" },
    one: { "eai:data": "<one/>" },
    other: { "eai:data": "<other/>" },
    changed: { "eai:data": "<changed/>" },
  },
  {
    ...{ what: "a password", path: "/storage/passwords", shown: "clear_password" },
    ...{ one: { password: "one" }, other: { password: "other" }, changed: { password: "changed" } },
  },
];
const json = { output_mode: "json" };

/** What a namespace shows under the name, by owner. */
async function found(namespace: string, { path, shown }: (typeof kinds)[number]) {
  const answer = await splunk.ask("GET", `/servicesNS/${namespace}/search${path}`, {
    ...json,
    search: "name=*mine*",
  });
  const { entry } = JSON.parse(answer.text) as Listed;
  return entry.map(({ acl, content }) => `${acl.owner}: ${content[shown]}`).sort();
}

describe.each(kinds)("$what", (kind) => {
  const { path, one, other, changed, shown } = kind;
  const text = (given: object) => Object.values(given)[0];
  const make = (owner: string, given: Parameters) =>
    splunk.ask("POST", `/servicesNS/${owner}/search${path}`, { name: "mine", ...given, ...json });
  const named = path === "/storage/passwords" ? ":mine:" : "mine";
  const at = (owner: string) => `/servicesNS/${owner}/search${path}/${named}`;

  test("of one name is another thing under another owner", async () => {
    expect((await make("alice", one)).status).toBe(201);
    expect(await found("admin", kind)).toEqual([]);
    expect(await found("nobody", kind)).toEqual([]);
    expect((await splunk.ask("GET", at("admin"))).status).toBe(404);
    expect((await make("admin", other)).status).toBe(201);
    expect((await make("alice", other)).status).toBe(409);
    expect(await found("alice", kind)).toEqual([`alice: ${text(one)}`]);
    expect(await found("admin", kind)).toEqual([`admin: ${text(other)}`]);
    expect(await found("-", kind)).toEqual([`admin: ${text(other)}`, `alice: ${text(one)}`]);

    const answer = await splunk.ask("POST", at("alice"), { ...changed, ...json });
    expect((JSON.parse(answer.text) as Listed).entry[0]?.content[shown]).toBe(text(changed));
    expect(await found("admin", kind)).toEqual([`admin: ${text(other)}`]);
    expect((await splunk.ask("DELETE", at("alice"))).status).toBe(200);
    expect(await found("-", kind)).toEqual([`admin: ${text(other)}`]);
  });

  test("that is shared is hidden by one's own of the name, and comes back without it", async () => {
    await make("nobody", one);
    await make("alice", other);
    expect(await found("alice", kind)).toEqual([`alice: ${text(other)}`]);
    expect(await found("admin", kind)).toEqual([`nobody: ${text(one)}`]);
    await splunk.ask("DELETE", at("alice"));
    expect(await found("alice", kind)).toEqual([`nobody: ${text(one)}`]);
  });

  test("is not shared over another of the name", async () => {
    await make("nobody", one);
    await make("alice", other);
    const share = () => splunk.ask("POST", `${at("alice")}/acl`, { owner: "nobody", sharing: "app" });
    expect(await share()).toMatchObject({ status: 409, text: expect.stringContaining("already exists") });
    await splunk.ask("DELETE", at("nobody"));
    expect((await share()).status).toBe(200);
    expect(await found("admin", kind)).toEqual([`nobody: ${text(other)}`]);
  });

  test("is two rows of the world with a key of three columns, and a snapshot has both", async () => {
    await make("alice", one);
    await make("admin", other);
    const before = await splunk.control("POST", "/snapshot");
    await splunk.control("POST", "/reset");
    const { tables } = JSON.parse(before.text) as { tables: object };
    expect((await splunk.control("POST", "/reset", { data: tables })).status).toBe(200);
    expect(await found("-", kind)).toHaveLength(2);
  });
});

describe("searches go by what their owner sees", () => {
  const search = async (text: string, headers?: Record<string, string>): Promise<Answer> =>
    splunk.ask("POST", "/services/search/jobs", { search: text, exec_mode: "oneshot", ...json }, headers);
  const rows = async (answer: Answer) => (JSON.parse(answer.text) as { results: object[] }).results;
  const mine = (owner: string, definition: string, more: Parameters = {}, headers = alice) =>
    splunk.ask(
      "POST",
      `/servicesNS/${owner}/search/configs/conf-macros`,
      { name: "m", definition, ...more },
      headers,
    );

  test("an account of the role user makes macros for itself, and none for others", async () => {
    expect((await mine("alice", "eval a=1")).status).toBe(201);
    expect((await mine("nobody", "eval a=2")).status).toBe(403);
    expect(await rows(await search("| makeresults | `m` | table a", alice))).toEqual([{ a: "1" }]);
    expect((await search("| makeresults | `m`")).text).toContain("cannot be found");
    expect(
      await splunk.ask("DELETE", "/servicesNS/alice/search/configs/conf-macros/m", {}, alice),
    ).toMatchObject({
      status: 200,
    });
  });

  test("one's own macro is taken before the shared one of the name", async () => {
    const admin: Record<string, string> = {};
    await mine("nobody", "eval a=2", {}, admin);
    await mine("alice", "eval a=1");
    expect(await rows(await search("| makeresults | `m` | table a", alice))).toEqual([{ a: "1" }]);
    expect(await rows(await search("| makeresults | `m` | table a"))).toEqual([{ a: "2" }]);
  });

  test("a private macro's validation is enforced with its message", async () => {
    const checked = { args: "x", validation: "isnum(x)", errormsg: "a number, please" };
    await splunk.ask(
      "POST",
      "/servicesNS/alice/search/configs/conf-macros",
      { name: "m(1)", definition: "eval a=$x$", ...checked },
      alice,
    );
    expect(await rows(await search("| makeresults | `m(3)` | table a", alice))).toEqual([{ a: "3" }]);
    expect((await search("| makeresults | `m(y)`", alice)).text).toContain("a number, please");
  });

  test("savedsearch runs that of the owner", async () => {
    const save = (owner: string, text: string) =>
      splunk.ask("POST", `/servicesNS/${owner}/search/saved/searches`, { name: "s", search: text });
    await save("alice", "| makeresults | eval a=1 | table a");
    await save("admin", "| makeresults | eval a=2 | table a");
    expect(await rows(await search("| savedsearch s", alice))).toEqual([{ a: "1" }]);
    expect(await rows(await search("| savedsearch s"))).toEqual([{ a: "2" }]);
  });
});
