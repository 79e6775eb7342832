/** Events beside a dataset whose columns are of types: none of them narrows what an event says. */

import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Collector, startCollector } from "../../testing/collector.ts";

let collector: Collector;
beforeAll(async () => {
  collector = await startCollector();
});
afterAll(() => collector.stop());

async function upload(text: string): Promise<void> {
  const { twins } = collector.splunk;
  const place = `${twins.baseUrl}/environments/dev/datasets/splunk?replace=true`;
  const answer = await request("POST", place, { headers: { "x-api-key": twins.apiKey }, body: text });
  expect(answer.status, answer.text).toBe(201);
}
beforeEach(() =>
  upload(
    "timestamp,status,ratio,ok,ended,host\n2026-03-02T10:00:00Z,200,1.50,true,2026-03-02,1\n2026-03-02T10:00:01Z,503,2.00,false,2026-03-03,2\n",
  ),
);

async function send(fields: Record<string, unknown>, time = 1772445700): Promise<void> {
  const answer = await collector.send("", JSON.stringify({ time, event: "sent", fields }));
  expect(answer.text).toBe('{"text":"Success","code":0}');
}
const found = (search: string, columns: string) =>
  collector.found(`index=* ${search} | table _time ${columns} | sort _time | reverse`);

test.each([
  ["status", "pending", "200", ["200", "503"]],
  ["status", "2.5", "200", ["200", "503"]],
  ["ratio", "n/a", "1.50", ["1.50", "2.00"]],
  ["ok", "maybe", "true", ["true", "false"]],
  ["ended", "yesterday", "2026-03-02", ["2026-03-02", "2026-03-03"]],
])(
  "a value that the column %s does not hold is found, and so are all others: %s",
  async (name, value, other, before) => {
    await send({ [name]: value });
    expect(await found(`${name}="${value}"`, name)).toMatchObject([{ [name]: value }]);
    expect(await found(`${name}="${other}"`, name)).toMatchObject([{ [name]: other }]);
    const shown = (await found("", name)).map((row) => row[name]);
    expect(shown).toEqual([...before, value]);
  },
);

test("a column that becomes text has what its events say, not how the database prints what it held", async () => {
  await upload(
    '{"timestamp":"2026-03-02T10:00:00Z","n":1.50,"list":[1.0,2.50],"o":{"k":1e3},"when":["2026-03-02T10:00:00Z"]}\n' +
      '{"timestamp":"2026-03-02T10:00:01Z","n":-0.0,"list":[30],"o":{"k":5e-1},"when":["2026-03-02T12:00:01+02:00"]}\n',
  );
  const times = [{ when: "2026-03-02T10:00:00Z" }, { when: "2026-03-02T12:00:01+02:00" }];
  expect(await found("", "when")).toMatchObject(times);
  await send({ n: "x", list: "x", "o.k": "x", when: "x" });
  expect(await found("NOT n=x", "n list o.k when")).toMatchObject([
    { n: "1.50", list: ["1.0", "2.50"], "o.k": "1e3", when: "2026-03-02T10:00:00Z" },
    { n: "-0.0", list: "30", "o.k": "5e-1", when: "2026-03-02T12:00:01+02:00" },
  ]);
  expect(await found("n=x", "n list o.k when")).toMatchObject([{ n: "x", list: "x", "o.k": "x", when: "x" }]);
});

test("numbers are still compared and added up as numbers", async () => {
  await send({ status: "pending" });
  await send({ status: "404" });
  expect(await found("status>300 status<900", "status")).toMatchObject([
    { status: "503" },
    { status: "404" },
  ]);
  expect(await collector.found("index=* | stats sum(status) as sum")).toMatchObject([{ sum: "1107" }]);
});

test("where an event comes from is found where the dataset has numbers under that name", async () => {
  const answer = await collector.send("", '{"event":"sent","host":"web-1","time":1772445700}');
  expect(answer.status, answer.text).toBe(200);
  expect(await found("host=web-1", "host")).toMatchObject([{ host: "web-1" }]);
  expect(await found("host=2", "host")).toMatchObject([{ host: "2" }]);
});

test("no field is made up for its time, and its own of that name is what it says", async () => {
  await send({ level: "info" });
  await send({ level: "warn", timestamp: "yesterday" }, 1772445701);
  const rows = await found("level=*", "timestamp level");
  expect(rows).toMatchObject([{ level: "info" }, { level: "warn", timestamp: "yesterday" }]);
  expect(rows[0]).not.toHaveProperty("timestamp");
  const times = rows.map(({ _time }) => _time);
  expect(times).toEqual(["2026-03-02T10:01:40.000+00:00", "2026-03-02T10:01:41.000+00:00"]);
  expect(await found("timestamp=yesterday", "level")).toHaveLength(1);
  expect(await found("NOT timestamp=*", "level")).toMatchObject([{ level: "info" }]);
});

test("a snapshot gives the same events back, and a change through the control plane leaves what it does not write", async () => {
  await send({ status: "pending", timestamp: "yesterday" });
  const { splunk } = collector;
  const before = await found("", "status timestamp");
  const { body } = await splunk.control("POST", "/snapshot");
  await splunk.control("POST", "/reset", {});
  expect(await found("", "status")).toHaveLength(2);
  const reset = await splunk.control("POST", "/reset", { data: body.tables });
  expect(reset.status, reset.text).toBe(200);
  expect(await found("", "status timestamp")).toEqual(before);
  const { _id } = body.tables.events.find(({ status }: { status: unknown }) => status === "pending");
  const changed = await splunk.control("PATCH", "/data", {
    entity_type: "events",
    where: { _id },
    changes: { level: "warn" },
  });
  expect(changed.status, changed.text).toBe(200);
  expect(await found("", "status timestamp")).toEqual(before);
});

test("a time in the format of the upload is the same instant", async () => {
  await upload("timestamp,started\n1772445600,02.03.2026 10:00:00\n");
  await send({ started: "02.03.2026 11:00:00" });
  expect(await found("started=*", "started")).toMatchObject([
    { started: "02.03.2026 10:00:00" },
    { started: "02.03.2026 11:00:00" },
  ]);
  const { rows } = (await collector.splunk.control("GET", "/data?entity_type=fields&name=started")).body;
  expect(rows).toMatchObject([{ type: "date", format: "day first, with dots" }]);
});
