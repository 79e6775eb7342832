/**
 * What the vendor's client offers beside jobs and saved searches, unchanged, over rows of the world.
 * Proves a part of twins/SECURITY.md.
 */

import { processorMsSince } from "@offhook/platform/testing/processor-time";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type SplunkSandbox, startSplunk } from "../../testing/splunk.ts";

let splunk: SplunkSandbox;
let service: ReturnType<SplunkSandbox["client"]>;
beforeAll(async () => {
  splunk = await startSplunk();
});
afterAll(() => splunk.stop());
beforeEach(async () => {
  await splunk.control("POST", "/reset", {});
  await splunk.control("PUT", "/clock", { now: "2026-01-31T09:00:00Z", frozen: true });
  service = splunk.client();
  await service.login();
});

const rows = async (table: string) =>
  (await splunk.control("GET", `/data?entity_type=${table}&limit=1000`)).body.rows;
const names = (collection: { list(): { name: string }[] }) => collection.list().map(({ name }) => name);

test("every collection that the client offers answers, and what the rest of it asks for is told", async () => {
  const namespace = { owner: "nobody", app: "search" };
  const offered = {
    apps: await service.apps().fetch(),
    configurations: await service.configurations(namespace).fetch(),
    dataModels: await service.dataModels().fetch(),
    firedAlertGroups: await service.firedAlertGroups(namespace).fetch(),
    indexes: await service.indexes().fetch(),
    jobs: await service.jobs().fetch(),
    savedSearches: await service.savedSearches(namespace).fetch(),
    storagePasswords: await service.storagePasswords(namespace).fetch(),
    users: await service.users().fetch(),
    views: await service.views(namespace).fetch(),
  };
  const counts = Object.entries(offered).map(([name, collection]) => [name, collection.list().length > 0]);
  expect(Object.fromEntries(counts)).toEqual({
    apps: true,
    configurations: true,
    dataModels: false,
    firedAlertGroups: true,
    indexes: true,
    jobs: false,
    savedSearches: true,
    storagePasswords: false,
    users: true,
    views: false,
  });
  expect((await service.currentUser()).properties()).toMatchObject({
    username: "admin",
    defaultApp: "search",
  });
  expect((await service.serverInfo()).properties()).toMatchObject({ serverName: "splunk" });
  expect((await service.parse("search x | head 1")).commands).toHaveLength(2);
  await service.log({ level: "error", code: 7 }, { sourcetype: "_json" });
  const [found] = (await service.oneshotSearch("search level=error code=7", { output_mode: "json" })).results;
  expect(found).toMatchObject({ sourcetype: "_json", source: "http-simple" });
  expect(JSON.stringify(await service.typeahead("level=", 5))).toContain("level=");
});

test("apps are made, changed, switched off and removed; those of the product stay", async () => {
  const apps = service.apps();
  const app = await apps.create({ name: "shop", label: "Shop", visible: true, template: "barebones" });
  expect(app.properties()).toMatchObject({ label: "Shop", visible: true, disabled: false });
  await app.update({ description: "Of the shop", version: "1.1" });
  expect(app.properties()).toMatchObject({ description: "Of the shop", version: "1.1", label: "Shop" });
  await app.disable();
  expect((await app.fetch()).properties().disabled).toBe(true);
  await app.enable();
  expect(names(await apps.fetch())).toEqual(["launcher", "search", "shop", "splunk_httpinput"]);
  await expect(apps.create({ name: "shop" })).rejects.toMatchObject({ status: 409 });
  await expect(apps.create({ name: "/tmp/a.spl", filename: true })).rejects.toMatchObject({ status: 400 });
  await app.remove();
  expect((await apps.fetch()).item("shop")).toBeNull();
  await expect(apps.item("search")?.remove()).rejects.toMatchObject({ status: 400 });
});

test("accounts are made, changed and removed, and log in with what they were given", async () => {
  const users = service.users();
  const user = await users.create({
    name: "dana",
    password: "dana-secret-1",
    roles: ["user"],
    realname: "Dana",
  });
  expect(user.name).toBe("dana");
  expect((await users.fetch()).item("dana")?.properties()).toMatchObject({
    realname: "Dana",
    roles: ["user"],
  });
  const own = splunk.client();
  Object.assign(own, { username: "dana", password: "dana-secret-1" });
  await own.login();
  expect((await own.currentUser()).properties().username).toBe("dana");
  await users.item("dana")?.update({ password: "dana-secret-2", email: "dana@example.com" });
  await expect(own.login()).rejects.toMatchObject({ status: 401 });
  await users.item("dana")?.remove();
  await expect(own.currentUser()).rejects.toMatchObject({ status: 401 });
  await expect(users.create({ name: "x", roles: ["user"] })).rejects.toMatchObject({ status: 400 });
  await expect(users.create({ name: "admin", password: "x", roles: ["user"] })).rejects.toMatchObject({
    status: 409,
  });
  const journal = (await splunk.control("GET", "/requests?limit=1000")).text;
  expect(journal).not.toContain("dana-secret");
});

test("passwords that are kept are given back in clear, and are nowhere in journal, rows and snapshot", async () => {
  const own = splunk.client({ owner: "nobody", app: "search" });
  await own.login();
  const passwords = own.storagePasswords();
  const kept = await passwords.create({ name: "\\bob:x", realm: "shop", password: "hunter2-hunter2" });
  expect(kept.name).toBe("shop:\\\\bob\\:x:");
  expect(kept.properties()).toMatchObject({
    clear_password: "hunter2-hunter2",
    password: "********",
    realm: "shop",
    username: "\\bob:x",
  });
  await kept.update({ password: "correct-horse" });
  expect((await kept.fetch()).properties().clear_password).toBe("correct-horse");
  await passwords.create({ name: "eve", password: "no-realm-here" });
  expect(names(await passwords.fetch())).toEqual([":eve:", "shop:\\\\bob\\:x:"]);
  const replaced = await passwords.createOrReplace({ name: "eve", realm: "", password: "another-one" });
  expect(replaced.properties().clear_password).toBe("another-one");
  for (const secret of ["hunter2-hunter2", "correct-horse", "no-realm-here", "another-one"]) {
    expect((await splunk.control("GET", "/requests?limit=1000")).text).not.toContain(secret);
    expect((await splunk.control("POST", "/snapshot")).text).not.toContain(secret);
    expect(JSON.stringify(await rows("storage_passwords"))).not.toContain(secret);
  }
  await splunk.ask("GET", "/services/storage/passwords");
  expect((await splunk.control("GET", "/requests?limit=1000")).text).not.toContain("another-one");
  await expect(passwords.create({ name: "eve", password: "x" })).rejects.toMatchObject({ status: 409 });
  await expect(passwords.create({ name: "mallory" })).rejects.toMatchObject({ status: 400 });
  await kept.remove();
  expect(names(await passwords.fetch())).toEqual([":eve:"]);
});

test("pages are kept in their namespace, shared and removed", async () => {
  const views = service.views({ owner: "admin", app: "search" });
  const data = "<?xml version='1.0'?>\n<dashboard><label>Orders</label></dashboard>";
  const view = await views.create({ name: "orders", "eai:data": data });
  expect(view.properties()).toMatchObject({
    "eai:data": data,
    label: "Orders",
    rootNode: "dashboard",
    isDashboard: true,
  });
  expect(view.acl()).toMatchObject({ owner: "admin", app: "search", sharing: "user" });
  await view.update({ "eai:data": "<view/>" });
  expect(view.properties()).toMatchObject({ rootNode: "view", isDashboard: false });
  const before = process.cpuUsage();
  await view.update({ "eai:data": `<dashboard>${"<!".repeat(200_000)}` });
  expect(processorMsSince(before)).toBeLessThan(2_000);
  await view.acl_update({ owner: "nobody", sharing: "app" });
  expect(await rows("views")).toMatchObject([{ name: "orders", owner: "nobody", sharing: "app" }]);
  await view.remove();
  expect(await rows("views")).toEqual([]);
  await expect(views.create({ name: "empty" })).rejects.toMatchObject({ status: 400 });
});

test("configuration files have stanzas, and stanzas settings", async () => {
  const configurations = service.configurations({ owner: "nobody", app: "search" });
  expect(names(await configurations.fetch())).toEqual(expect.arrayContaining(["limits", "props", "macros"]));
  expect(await configurations.getConfFile("shop")).toBeNull();
  const file = await configurations.create({ __conf: "shop" });
  expect(file.list()).toEqual([]);
  const stanza = await file.create("prices", { currency: "EUR", search: "x" });
  expect(stanza.properties()).toMatchObject({ currency: "EUR", search: "x", disabled: false });
  await stanza.update({ currency: "SEK" });
  expect(stanza.properties()).toMatchObject({ currency: "SEK", search: "x" });
  await stanza.disable();
  expect((await stanza.fetch()).properties().disabled).toBe(true);
  await configurations.createAsync("shop", "places", { city: "Graz" });
  expect(
    (await rows("conf_stanzas")).filter(({ name }: { name: string }) => name.startsWith("shop/")),
  ).toMatchObject([
    { name: "shop/default", settings: {} },
    { name: "shop/prices", settings: { currency: "SEK", search: "x", disabled: "1" } },
    { name: "shop/places", settings: { city: "Graz" } },
  ]);
  await stanza.remove();
  expect(names((await configurations.getConfFile("shop")) ?? { list: () => [] })).toEqual(["places"]);
  await expect(file.create("places", {})).rejects.toMatchObject({ status: 409 });
  await expect(service.get("configs/conf-nothing")).rejects.toMatchObject({ status: 404 });
  await expect(service.get("configs/conf-savedsearches")).rejects.toMatchObject({ status: 400 });
});

test("a macro that is written as a stanza is a row, and the next search goes by it", async () => {
  const configurations = service.configurations({ owner: "nobody", app: "search" });
  const macros = await configurations.getConfFile("macros");
  const macro = await macros?.create("one(1)", { args: "n", definition: "makeresults | eval x=$n$" });
  expect(macro?.properties()).toMatchObject({ args: "n", iseval: "0" });
  const found = async () =>
    (await service.oneshotSearch("| `one(7)`", { output_mode: "json" })).results[0]?.x;
  expect(await found()).toBe("7");
  await macro?.update({ definition: "makeresults | eval x=$n$*2" });
  expect(await found()).toBe("14");
  expect(await rows("macros")).toMatchObject([{ name: "one(1)", args: ["n"] }]);
  await macro?.remove();
  await expect(found()).rejects.toMatchObject({ status: 400 });
});

test("settings are read and written one by one", async () => {
  const ask = (method: string, path: string, parameters = {}) =>
    splunk.ask(method, `/servicesNS/nobody/search/properties${path}`, { output_mode: "json", ...parameters });
  expect((await ask("POST", "", { __conf: "shop" })).status).toBe(201);
  expect((await ask("POST", "/shop", { __stanza: "prices" })).status).toBe(201);
  expect((await ask("POST", "/shop/prices", { currency: "EUR", vat: "20" })).body.messages).toEqual([
    { type: "INFO", text: "Successfully modified 2 keys" },
  ]);
  expect((await ask("POST", "/shop/prices/vat", { value: "25" })).status).toBe(200);
  const listed = await ask("GET", "/shop/prices");
  expect(
    listed.body.entry.map(({ name, content }: { name: string; content: string }) => [name, content]),
  ).toEqual([
    ["currency", "EUR"],
    ["vat", "25"],
  ]);
  expect((await ask("GET", "/shop/prices/vat")).text).toBe("25");
  expect((await splunk.ask("GET", "/services/properties/shop/prices")).text).toContain(
    '<content type="text">EUR</content>',
  );
  for (const path of ["/nothing", "/shop/nothing", "/shop/prices/nothing"]) {
    expect((await ask("GET", path)).status).toBe(404);
  }
});

test("messages to the administrator are rows", async () => {
  await service.post("messages", { name: "disk", value: "The disk is full.", severity: "warn" });
  const { data } = await service.get("messages");
  expect(data.entry).toMatchObject([
    { name: "disk", content: { message: "The disk is full.", disk: "The disk is full.", severity: "warn" } },
  ]);
  await service.post("messages", { name: "disk", value: "It is not." });
  expect(await rows("messages")).toMatchObject([{ name: "disk", value: "It is not.", severity: "info" }]);
});

test("a setting that is changed by its name is not in the journal: the path says whether it is a password", async () => {
  const path = "/services/properties/server/kept/sslPassword";
  await splunk.ask("POST", "/services/properties/server", { __stanza: "kept" });
  expect((await splunk.ask("POST", path, { value: "kept-under-its-name" })).status).toBe(200);
  const journal = (await splunk.control("GET", "/requests?limit=1000")).text;
  expect(journal).toContain(path);
  expect(journal).not.toContain("kept-under-its-name");
});
