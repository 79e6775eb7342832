/** Datasets are uploaded, described and deleted by those who may. Proves a part of twins/SECURITY.md. */
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { keyEntry } from "@offhook/platform/http/api-keys";
import { type RunningTwins, type StartOptions, startTwins } from "@offhook/platform/server/start";
import { type Answer, request } from "@offhook/platform/testing/http";
import { createShop } from "@offhook/platform/testing/shop-twin";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLogTwin } from "../testing/log-twin.ts";

const csv = "time,level,code\n2024-01-02T03:04:05Z,info,200\n2024-01-02T03:04:06Z,warn,503\n";
const otherCsv = "time,level\n2024-02-01,info\n";

let folder: string;
let library: string;
let twins: RunningTwins;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "datasets-"));
  library = path.join(folder, "library");
});
afterEach(async () => {
  await twins?.stop();
  await rm(folder, { recursive: true });
});

async function start(
  services = "services: [{name: logs}, {name: shop}]",
  options: Partial<StartOptions> = {},
  place: Partial<StartOptions> = { datasetFolder: library },
) {
  const environmentFile = path.join(folder, "environment.yaml");
  await writeFile(environmentFile, `version: 1\n${services}\n`);
  twins = await startTwins({
    twins: [createLogTwin(), createLogTwin("others"), createShop()],
    environmentFile,
    ...place,
    ...options,
  });
}

interface AskOptions {
  key?: string;
  headers?: Record<string, string>;
}

function ask(
  method: string,
  where: string,
  body?: unknown,
  { key, headers }: AskOptions = {},
): Promise<Answer> {
  return request(method, `${twins.baseUrl}${where}`, {
    headers: { "x-api-key": key ?? twins.apiKey, ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

const place = "/environments/dev/datasets/logs";
const upload = (body: unknown = csv, query = "", options?: AskOptions) =>
  ask("POST", `${place}${query}`, body, options);
const rowsOf = async (sandbox = "dev") => (await ask("GET", `/s/${sandbox}/logs/count`)).body.rows;

/** What the library holds beside what it is working on. */
async function kept(): Promise<string[]> {
  const names = existsSync(library) ? await readdir(library, { recursive: true }) : [];
  return names.filter((name) => name.endsWith(".duckdb") || name.includes("making"));
}

describe("a dataset", () => {
  beforeEach(() => start());

  test("is uploaded, described and deleted; running sandboxes are reset to it", async () => {
    expect(await rowsOf()).toBe(null);
    const uploaded = await upload(csv, "?file_name=day.csv");
    expect(uploaded.status, uploaded.text).toBe(201);
    expect(uploaded.body).toMatchObject({ rows: 2, format: "csv", sandboxes: [{ id: "dev" }] });
    expect(await rowsOf()).toBe(2);

    const described = await ask("GET", place);
    expect(described.status).toBe(200);
    expect(described.body).toMatchObject({
      file_name: "day.csv",
      bytes: csv.length,
      columns: [
        { name: "time", type: "date", multi: false },
        { name: "level", type: "text", multi: false },
        { name: "code", type: "long", multi: false },
      ],
      time_field: "time",
      time_range: { from: "2024-01-02T03:04:05.000Z", to: "2024-01-02T03:04:06.000Z" },
      sample: [
        { time: "2024-01-02T03:04:05Z", level: "info", code: 200 },
        { time: "2024-01-02T03:04:06Z", level: "warn", code: 503 },
      ],
    });

    const deleted = await ask("DELETE", place);
    expect(deleted.status).toBe(200);
    expect(deleted.body).toEqual({ sandboxes: [{ id: "dev" }] });
    expect(await rowsOf()).toBe(null);
    expect((await ask("GET", place)).status).toBe(404);
    expect((await ask("DELETE", place)).status).toBe(404);
  });

  test("is what new sandboxes of the environment start with, and those of another do not", async () => {
    await upload();
    await ask("POST", "/sandboxes", { id: "same" });
    await ask("POST", "/sandboxes", { id: "elsewhere", environment: "staging" });
    expect(await rowsOf("same")).toBe(2);
    expect(await rowsOf("elsewhere")).toBe(null);
    const staged = await ask("POST", "/environments/staging/datasets/logs", otherCsv);
    expect(staged.body).toMatchObject({ rows: 1, sandboxes: [{ id: "elsewhere" }] });
    expect(await rowsOf("elsewhere")).toBe(1);
    expect(await rowsOf("same")).toBe(2);
    expect((await ask("GET", "/sandboxes/elsewhere")).body.environment).toBe("staging");
  });

  test("is one of a service: a second upload is a conflict and changes nothing", async () => {
    await upload();
    const again = await upload(otherCsv);
    expect(again.status).toBe(409);
    expect(again.body.error.message).toContain("delete it first");
    expect((await ask("GET", place)).body.rows).toBe(2);
    expect(await rowsOf()).toBe(2);
  });

  test("is replaced where that is asked for, and by no file that is wrong", async () => {
    await upload();
    expect((await upload("a,b\n1\n", "?replace=true")).status).toBe(422);
    expect(await rowsOf()).toBe(2);
    expect((await upload(otherCsv, "?replace=true")).body).toMatchObject({
      rows: 1,
      sandboxes: [{ id: "dev" }],
    });
    expect(await rowsOf()).toBe(1);
    expect((await upload(csv, "?replace=perhaps")).status).toBe(422);
    expect((await upload(csv, "?replace=false")).status).toBe(409);
    expect(await kept()).toHaveLength(1);
  });

  test("is taken from the file of a form, as curl -F sends one", async () => {
    const form = new FormData();
    form.append("format", "csv");
    form.append("file", new Blob([csv]), "day.log");
    const answer = await fetch(`${twins.baseUrl}${place}`, {
      method: "POST",
      headers: { "x-api-key": twins.apiKey },
      body: form,
    });
    expect(await answer.json()).toMatchObject({
      rows: 2,
      format: "csv",
      file_name: "day.log",
      columns: [{ name: "time" }, {}, {}],
    });
    expect(answer.status).toBe(201);
  });

  test("is in no form without a file, and in none that is compressed", async () => {
    const type = { "content-type": "multipart/form-data; boundary=x" };
    const fields = '--x\r\ncontent-disposition: form-data; name="file"\r\n\r\na,b\r\n--x--\r\n';
    const answer = await upload(fields, "", { headers: type });
    expect(answer.status).toBe(422);
    expect(answer.body.error.message).toContain("curl -F file=@logs.csv");
    const zipped = await upload(gzipSync(fields), "", { headers: { ...type, "content-encoding": "gzip" } });
    expect(zipped.body.error.message).toContain("only the file in it may be compressed");
    expect(await rowsOf()).toBe(null);
  });

  test("whose line feeds curl -d has taken out says so", async () => {
    const answer = await upload(csv.replaceAll("\n", ""), "", {
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(answer.body.error.message).toContain("--data-binary");
  });

  test("of one service is not that of another", async () => {
    await upload();
    expect((await ask("GET", "/environments/dev/datasets/others")).status).toBe(404);
    expect((await ask("POST", "/environments/dev/datasets/others", otherCsv)).status).toBe(201);
    expect((await ask("GET", place)).body.rows).toBe(2);
  });

  test("is taken in gzip, by name, by header and by neither", async () => {
    const zipped = gzipSync(csv);
    for (const options of [{}, { headers: { "content-encoding": "gzip", "content-type": "text/csv" } }]) {
      expect((await upload(zipped, "?file_name=a.csv.gz", options)).body.rows).toBe(2);
      await ask("DELETE", place);
    }
  });
});

test("environments are listed with their sandboxes, and the services that take a dataset", async () => {
  await start(undefined, { keys: [keyEntry("local", "our own key"), keyEntry("acme", "key of acme")] });
  await ask("POST", "/sandboxes", { id: "stage", environment: "staging" });
  await ask("POST", "/environments/spare/datasets/others", csv);
  await ask("POST", "/environments/dev/datasets/logs?file_name=calls.csv", csv);
  const { sample: _sample, ...described } = (await ask("GET", "/environments/dev/datasets/logs")).body;
  const service = (name: string, dataset: unknown = null) => ({
    name,
    takes_dataset: true,
    changing: false,
    dataset,
  });
  const { status, body } = await ask("GET", "/environments");
  expect(status).toBe(200);
  expect(body.environments).toEqual([
    { name: "dev", sandboxes: ["dev"], services: [service("logs", described), service("others")] },
    {
      name: "spare",
      sandboxes: [],
      services: [service("logs"), service("others", expect.objectContaining({ rows: 2 }))],
    },
    { name: "staging", sandboxes: ["stage"], services: [service("logs"), service("others")] },
  ]);
  expect(described.file_name).toBe("calls.csv");
  const others = await ask("GET", "/environments", undefined, { key: "key of acme" });
  expect(others.body.environments).toEqual([
    { name: "dev", sandboxes: [], services: [service("logs"), service("others")] },
  ]);
  expect((await ask("GET", "/environments?limit=1")).status).toBe(422);
  expect((await ask("GET", "/environments", undefined, { key: "none" })).status).toBe(401);
});

describe("nothing is stored of a file", () => {
  beforeEach(() => start());
  afterEach(async () => {
    expect((await ask("GET", place)).status).toBe(404);
    expect(await kept()).toEqual([]);
    expect((await upload()).status).toBe(201);
  });

  test("that is wrong, and the answer says where", async () => {
    const answer = await upload("a,b\n1\n2,3\n4,5,6\n");
    expect(answer.status).toBe(422);
    expect(answer.body.error).toEqual({
      code: "invalid_dataset",
      message: "the file is wrong in 2 places, and nothing of it was stored",
      problems: [
        { line: 2, column: 2, rule: "the record has 1 value, the header names 2 columns" },
        { line: 4, column: 6, rule: "the record has 3 values, the header names 2 columns" },
      ],
      total_problems: 2,
    });
  });

  test("whose format is said in two ways", async () => {
    const answer = await upload(csv, "?format=ndjson&file_name=a.csv");
    expect(answer.status).toBe(422);
    expect(answer.body.error.message).toBe("the parameter format says ndjson, the file name says csv");
    expect((await upload(csv, "?format=xml")).status).toBe(422);
    const json = await upload(csv, "?format=csv", { headers: { "content-type": "application/x-ndjson" } });
    expect(json.status).toBe(422);
  });

  test("whose client went away", async () => {
    const url = new URL(`${twins.baseUrl}${place}`);
    const leaving = httpRequest(url, { method: "POST", headers: { "x-api-key": twins.apiKey } });
    const left = new Promise((resolve) => leaving.on("error", resolve));
    leaving.write("a,b\n1,2\n");
    // An empty file is refused either way, so it only asks whether an upload is under way.
    await expect.poll(async () => (await upload("")).status).toBe(409);
    expect((await ask("DELETE", place)).status).toBe(409);
    leaving.destroy();
    await left;
    await expect.poll(async () => (await upload("")).status).toBe(422);
    const { requests } = (await ask("GET", "/sandboxes/requests?operation=dataset.upload")).body;
    expect(requests[0].status).toBe(null);
  });
});

test("a file that is too large is refused, as it is sent and decompressed", async () => {
  await start(undefined, { maxDatasetBytes: 10_000 });
  const line = "something\n";
  const large = `a\n${line.repeat(2000)}`;
  expect((await upload(large)).status).toBe(413);
  expect((await upload(gzipSync(large))).status).toBe(413);
  const stream = new ReadableStream({
    pull(controller) {
      controller.enqueue(Buffer.from(line.repeat(100)));
    },
  });
  const answer = await fetch(`${twins.baseUrl}${place}`, {
    method: "POST",
    headers: { "x-api-key": twins.apiKey },
    body: stream,
    duplex: "half",
  } as RequestInit).catch(() => undefined);
  // The connection can be cut while the client is still sending.
  if (answer) expect(answer.status).toBe(413);
  expect(await kept()).toEqual([]);
});

describe("who may", () => {
  const acme = "acme-key-1234";
  beforeEach(() => start(undefined, { keys: [keyEntry("first", "first-key-1234"), keyEntry("acme", acme)] }));

  test("without a key nothing is answered", async () => {
    for (const method of ["GET", "POST", "DELETE"]) {
      const answer = await ask(method, place, method === "POST" ? csv : undefined, { key: "wrong" });
      expect(answer.status).toBe(401);
    }
  });

  test("an organisation sees its own datasets alone", async () => {
    await upload();
    expect((await ask("GET", place, undefined, { key: acme })).status).toBe(404);
    const own = await upload(otherCsv, "", { key: acme });
    expect(own.body).toMatchObject({ rows: 1, sandboxes: [] });
    expect((await ask("GET", place)).body.rows).toBe(2);
  });

  test("a service must be there and take a dataset", async () => {
    const unknown = await ask("POST", "/environments/dev/datasets/none", csv);
    expect(unknown.status).toBe(404);
    expect(unknown.body.error.message).toBe("there is no such service; datasets are taken by logs, others");
    const shop = await ask("POST", "/environments/dev/datasets/shop", csv);
    expect(shop.status).toBe(422);
    expect(shop.body.error.message).toBe('service "shop" takes no dataset');
    expect((await ask("GET", "/environments/UP/datasets/logs")).status).toBe(404);
    expect((await ask("PUT", place, csv)).status).toBe(405);
    expect((await ask("GET", "/environments/dev")).status).toBe(404);
  });
});

test("the journal has an upload without its bytes", async () => {
  await start();
  await upload();
  const { requests } = (await ask("GET", "/sandboxes/requests?operation=dataset.upload")).body;
  expect(requests).toMatchObject([{ method: "POST", path: place, status: 201, body: null }]);
});

test("a sandbox that cannot be reset is named, and the dataset stands", async () => {
  await start("services: [{name: logs, config: {fails: true}}]");
  const answer = await upload();
  expect(answer.status).toBe(201);
  expect(answer.body.sandboxes).toEqual([{ id: "dev", problem: "the disk is full" }]);
});

describe("the environment file", () => {
  const services = "services: [{name: logs, dataset: day.csv}]";

  test("names the dataset of the first start; deleting it is for as long as the twins run", async () => {
    await writeFile(path.join(folder, "day.csv"), csv);
    await start(services);
    expect((await ask("GET", place)).body).toMatchObject({ rows: 2, file_name: "day.csv" });
    expect(await rowsOf()).toBe(2);
    expect((await upload(otherCsv)).status).toBe(409);
    await ask("DELETE", place);
    expect(await rowsOf()).toBe(null);
    expect((await upload(otherCsv)).status).toBe(201);
    await twins.stop();
    await start(services);
    expect(await rowsOf()).toBe(2);
  });

  test("with a file that is wrong does not start, and says where", async () => {
    await writeFile(path.join(folder, "day.csv"), "a,b\n1\n");
    await expect(start(services)).rejects.toThrow(
      /day\.csv of service logs was not read.*\n {2}line 2, column 2: the record has 1 value/,
    );
    await expect(start("services: [{name: logs, dataset: none.csv}]")).rejects.toThrow(
      "there is no file none.csv",
    );
    await start("services: [{name: logs}]");
  });

  test("and a sandbox's own services may name another", async () => {
    await writeFile(path.join(folder, "day.csv"), csv);
    await writeFile(path.join(folder, "own.csv"), otherCsv);
    await start(`request_folders: [.]\n${services}`);
    const made = await ask("POST", "/sandboxes", {
      id: "own",
      services: [{ name: "logs", dataset: "own.csv" }],
    });
    expect(made.status, made.text).toBe(201);
    expect(await rowsOf("own")).toBe(1);
    await ask("DELETE", place);
    expect(await rowsOf("own")).toBe(1);
    const wrong = { services: [{ name: "logs", dataset: "/etc/hostname" }] };
    expect((await ask("POST", "/sandboxes", wrong)).status).toBe(422);
  });
});

test("twins without a folder for datasets leave nothing behind", async () => {
  const temporary = async () =>
    (await readdir(tmpdir())).filter((name) => name.startsWith("offhook-datasets-"));
  const before = await temporary();
  await start(undefined, {}, {});
  await upload();
  expect((await temporary()).length).toBe(before.length + 1);
  await twins.stop();
  expect(await temporary()).toEqual(before);
});
