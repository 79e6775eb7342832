/** In `vendor` fidelity a new index takes its defaults from the matching template. Measured on a server of 8.15.0. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.control("POST", "/reset"));

async function ask(method: string, path: string, body?: unknown) {
  const { status, text } = await sandbox.raw(method, path, body);
  return { status, body: text === "" ? undefined : JSON.parse(text) };
}

async function put(path: string, body: object): Promise<void> {
  expect(await ask("PUT", path, body)).toEqual({ status: 200, body: { acknowledged: true } });
}

const keyword = { type: "keyword" };
const logs = {
  index_patterns: ["web-*"],
  priority: 10,
  template: {
    settings: { number_of_replicas: 0 },
    mappings: { properties: { host: keyword, at: { properties: { zone: keyword } } } },
    aliases: { web: {} },
  },
};

test("an index created by a write has the mapping, settings and aliases of its template", async () => {
  await put("/_index_template/logs", logs);
  await ask("POST", "/web-1/_doc/1", { host: "a", size: 1 });
  await ask("POST", "/other/_doc/1", { host: "a" });
  const { body } = await ask("GET", "/web-1,other");
  expect(body["web-1"]).toMatchObject({
    aliases: { web: {} },
    mappings: { properties: { ...logs.template.mappings.properties, size: { type: "long" } } },
    settings: { index: { number_of_replicas: "0" } },
  });
  expect(body.other).toMatchObject({ aliases: {}, mappings: { properties: { host: { type: "text" } } } });
  const sorted = await ask("POST", "/web/_search", { sort: ["host"] });
  expect(sorted.body.hits.hits).toMatchObject([{ _index: "web-1", sort: ["a"] }]);
});

test("a request overrides a template, and a template its components", async () => {
  await put("/_component_template/base", {
    template: {
      settings: { number_of_shards: 2, number_of_replicas: 3 },
      mappings: { dynamic: "strict", properties: { host: { type: "text" }, ip: { type: "ip" } } },
      aliases: { all: {} },
    },
  });
  await put("/_index_template/logs", { ...logs, composed_of: ["base"] });
  await put("/_index_template/any", { index_patterns: "*", template: { mappings: { dynamic: false } } });
  await ask("PUT", "/web-1", {
    settings: { index: { number_of_replicas: 1 } },
    mappings: { dynamic: true, properties: { at: { properties: { day: { type: "date" } } }, ip: keyword } },
    aliases: { web: { is_write_index: true }, own: {} },
  });
  expect((await ask("GET", "/web-1")).body["web-1"]).toMatchObject({
    aliases: { all: {}, web: { is_write_index: true }, own: {} },
    mappings: {
      dynamic: "true",
      properties: {
        host: keyword,
        ip: keyword,
        at: { properties: { zone: keyword, day: { type: "date" } } },
      },
    },
    settings: { index: { number_of_shards: "2", number_of_replicas: "1" } },
  });
  await ask("PUT", "/elsewhere", {});
  expect((await ask("GET", "/elsewhere/_mapping")).body.elsewhere.mappings).toEqual({ dynamic: "false" });
});

test("templates are shown until they are deleted or the sandbox is reset", async () => {
  await put("/_component_template/base", { template: { settings: { index: { number_of_shards: 2 } } } });
  await put("/_index_template/logs", { ...logs, composed_of: ["base"] });
  expect((await ask("GET", "/_index_template/lo*")).body).toEqual({
    index_templates: [
      {
        name: "logs",
        index_template: {
          ...logs,
          composed_of: ["base"],
          template: { ...logs.template, settings: { index: { number_of_replicas: "0" } } },
        },
      },
    ],
  });
  expect((await ask("HEAD", "/_index_template/logs")).status).toBe(200);
  expect((await sandbox.raw("GET", "/_cat/templates/logs?h=name,index_patterns,order")).text).toBe(
    "logs [web-*] 10\n",
  );
  expect((await ask("DELETE", "/_component_template/base")).body.error.reason).toBe(
    "component templates [base] cannot be removed as they are still in use by index templates [logs]",
  );
  expect((await ask("DELETE", "/_index_template/logs")).status).toBe(200);
  expect((await ask("DELETE", "/_component_template/base")).status).toBe(200);
  expect((await ask("HEAD", "/_index_template/logs")).status).toBe(404);
  await put("/_index_template/logs", logs);
  await sandbox.control("POST", "/reset");
  expect((await ask("GET", "/_index_template")).body).toEqual({ index_templates: [] });
});

test.each([
  ["no patterns", {}, "Required [index_patterns]"],
  ["an unknown member", { index_patterns: ["x"], foo: 1 }, "[1:25] [index_template] unknown field [foo]"],
  [
    "components that do not exist",
    { index_patterns: ["x"], composed_of: ["none"] },
    "index_template [bad] invalid, cause [index template [bad] specifies component templates [none] that do not exist]",
  ],
  [
    "the patterns of another template of the same priority",
    { index_patterns: ["*-1"], priority: 10 },
    "index template [bad] has index patterns [*-1] matching patterns from existing templates [logs] with patterns (logs => [web-*]) that have the same priority [10], multiple index templates may not match during index creation, please use a different priority",
  ],
  [
    "a mapping that is none",
    { index_patterns: ["x"], template: { mappings: { properties: { a: { type: "nope" } } } } },
    "composable template [bad] template after composition is invalid",
  ],
])("a template with %s is refused", async (_, template, reason) => {
  await put("/_index_template/logs", logs);
  const { status, body } = await ask("PUT", "/_index_template/bad", template);
  expect({ status, reason: body.error.reason }).toEqual({ status: 400, reason });
});

test.each([
  ["web-*", "web-*", true],
  ["web-*", "*-1", true],
  ["a*c", "ab*", true],
  ["a*c", "ab", false],
  ["web-1", "web-2", false],
  ["*", "x", true],
  ["x*", "y*", false],
])("patterns %s and %s collide: %s", async (one, other, collide) => {
  await put("/_index_template/one", { index_patterns: [one] });
  const { status } = await ask("PUT", "/_index_template/other", { index_patterns: [other] });
  expect(status).toBe(collide ? 400 : 200);
});
