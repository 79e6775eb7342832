/** Data models as the vendor's client makes and reads them, over the rows that searches go by; and roles. */
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
  await splunk.add(
    {
      _id: "1",
      "@timestamp": "2026-01-31T09:00:00.000Z",
      level: "error",
      service: "checkout",
      src_user: "dana",
    },
    {
      _id: "2",
      "@timestamp": "2026-01-31T09:00:01.000Z",
      level: "info",
      service: "checkout",
      src_user: "eve",
    },
    {
      _id: "3",
      "@timestamp": "2026-01-31T09:00:02.000Z",
      level: "error",
      service: "search",
      src_user: "dana",
    },
  );
  service = splunk.client();
  await service.login();
});

const rows = async (table: string) =>
  (await splunk.control("GET", `/data?entity_type=${table}&limit=1000`)).body.rows;

const definition = {
  displayName: "The shop",
  description: "What happens in it",
  objects: [
    {
      objectName: "Requests",
      displayName: "Requests",
      parentName: "BaseEvent",
      fields: [{ fieldName: "level", owner: "Requests", type: "string" }],
      constraints: [{ search: "service=checkout", owner: "Requests" }],
      calculations: [
        {
          calculationID: "u",
          calculationType: "Eval",
          expression: "src_user",
          outputFields: [{ fieldName: "user", owner: "Requests", type: "string" }],
        },
      ],
    },
    {
      objectName: "Failures",
      displayName: "Failures",
      parentName: "Requests",
      fields: [],
      constraints: [{ search: "level=error" }],
      calculations: [],
    },
  ],
};

test("a data model is made, shown with what inherits from what, searched, and removed", async () => {
  const models = service.dataModels();
  const model = await models.create("Shop", definition);
  expect([model.name, model.displayName, model.objectNames]).toEqual([
    "Shop",
    "The shop",
    ["Requests", "Failures"],
  ]);
  expect(model.isAccelerated()).toBe(false);
  const failures = model.objectByName("Failures");
  expect(failures?.parentName).toBe("Requests");
  expect(failures?.constraints).toMatchObject([{ query: "level=error", owner: "Failures" }]);
  expect(model.objectByName("Requests")?.fieldNames()).toEqual(["level"]);
  expect(await rows("data_models")).toMatchObject([
    {
      name: "Shop",
      objects: [
        { name: "Requests", constraint: "service=checkout", fields: { level: "level", user: "src_user" } },
        {
          name: "Failures",
          constraint: "(service=checkout) (level=error)",
          fields: { level: "level", user: "src_user" },
        },
      ],
    },
  ]);
  const counted = async (object: string) =>
    (await service.oneshotSearch(`| tstats count from datamodel=Shop.${object}`, { output_mode: "json" }))
      .results;
  expect(await counted("Requests")).toEqual([{ count: "2" }]);
  expect(await counted("Failures")).toEqual([{ count: "1" }]);
  const [found] = (
    await service.oneshotSearch('| from datamodel:"Shop.Failures" | table user', { output_mode: "json" })
  ).results;
  expect(found).toEqual({ user: "dana" });
  expect((await models.fetch()).item("Shop")?.objectNames).toEqual(["Requests", "Failures"]);
  await expect(models.create("Shop", definition)).rejects.toMatchObject({ status: 409 });
  await (await models.fetch()).item("Shop")?.remove();
  expect(await rows("data_models")).toEqual([]);
});

test("a model that is a row is shown as the API writes models", async () => {
  const objects = [{ name: "All", constraint: "level=*", fields: { level: "level", user: "src_user" } }];
  await splunk.control("POST", "/data", { data: { data_models: [{ name: "Own", objects }] } });
  const model = (await service.dataModels().fetch()).item("Own");
  expect(model?.objectByName("All")?.constraints).toMatchObject([{ query: "level=*", owner: "All" }]);
  expect(model?.objectByName("All")?.fieldNames()).toEqual(["level"]);
});

test("what a model cannot have here is refused by its name, and pivots are not there", async () => {
  const models = service.dataModels();
  const [root] = definition.objects;
  const text = (objects: unknown[]) =>
    models.create("Wrong", { ...definition, objects }).then(
      () => "made",
      (error: { data: { messages: { text: string }[] } }) => error.data.messages[0]?.text,
    );
  const rex = { calculationID: "r", calculationType: "Rex", expression: "(?<x>a)", outputFields: [] };
  expect(await text([{ ...root, calculations: [rex] }])).toContain("The calculation 'r'");
  expect(await text([{ ...root, parentName: "BaseTransaction" }])).toContain("'BaseTransaction'");
  expect(await text([{ displayName: "nameless" }])).toContain("objects.0.objectName");
  const answer = await splunk.ask("POST", "/services/datamodel/model", { name: "a", description: "{" });
  expect(answer.status).toBe(400);
  const model = await models.create("Shop", definition);
  await expect(model.objectByName("Requests")?.createPivotSpecification().pivot()).rejects.toThrow(
    "Not Found",
  );
});

test("a role is made, given to an account, changed and removed", async () => {
  const ask = (method: string, path: string, parameters: Record<string, string | readonly string[]> = {}) =>
    splunk.ask(method, `/services/authorization/roles${path}`, { output_mode: "json", ...parameters });
  const made = await ask("POST", "", { name: "keeper", capabilities: ["search", "indexes_edit"] });
  expect(made.status).toBe(201);
  await service.users().create({ name: "kim", password: "kims-password", roles: ["keeper"] });
  const own = splunk.client();
  Object.assign(own, { username: "kim", password: "kims-password" });
  await own.login();
  await own.indexes().create("kept");
  await expect(own.users().create({ name: "x", password: "y", roles: ["user"] })).rejects.toMatchObject({
    status: 403,
  });
  await ask("POST", "/keeper", { capabilities: ["search"] });
  await expect(own.indexes().create("another")).rejects.toMatchObject({ status: 403 });
  expect((await ask("POST", "", { name: "keeper" })).status).toBe(409);
  expect((await ask("POST", "/keeper", { srchMaxTime: "1h" })).status).toBe(400);
  await expect(service.users().create({ name: "x", password: "y", roles: ["none"] })).rejects.toMatchObject({
    status: 400,
  });
  expect((await ask("DELETE", "/keeper")).status).toBe(200);
  expect((await ask("GET", "/keeper")).status).toBe(404);
});
