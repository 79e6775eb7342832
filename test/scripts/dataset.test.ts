import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { createLogTwin } from "@offhook/log-store/testing/log-twin";
import type { RunningTwins } from "@offhook/platform/server/start";
import { startEnvironment } from "@offhook/platform/testing/twins";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Progress } from "../../scripts/dataset/progress.ts";
import { Command, run } from "../support/command.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const TSX = import.meta.resolve("tsx");

const csv = "time,level\n2024-01-02T03:04:05Z,info\n2024-01-03T00:00:00Z,warn\n";

let folder: string;
let twins: RunningTwins;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "dataset-"));
  twins = await startEnvironment("version: 1\nservices: [{name: elasticsearch}]\n", {
    twins: [createLogTwin("elasticsearch")],
  });
  env = { TWINS_URL: twins.baseUrl, SANDBOX_API_KEY: twins.apiKey };
  await writeFile(path.join(folder, "day.csv"), csv);
  await writeFile(path.join(folder, "day.ndjson.gz"), gzipSync('{"a":1}\n{"a":2}\n'));
  await writeFile(path.join(folder, "wrong.csv"), `a,b\n${"1\n".repeat(120)}`);
});
afterAll(async () => {
  await twins.stop();
  await rm(folder, { recursive: true });
});

const file = (name: string) => path.join(folder, name);

test("upload, show and delete say what was done, and exit with 0", async () => {
  const uploaded = await run("dataset.ts", ["upload", file("day.csv")], env);
  expect(uploaded).toMatchObject({ exitCode: 0 });
  expect(uploaded.stdout).toContain("2 rows of day.csv (csv, 63 B");
  expect(uploaded.stdout).toContain("time is time: 2024-01-02T03:04:05.000Z to 2024-01-03T00:00:00.000Z");
  expect(uploaded.stdout).toContain("  level  text");
  expect(uploaded.stdout).toContain("reset: dev");
  expect(uploaded.stderr).toContain("100 %  63 B of 63 B  all sent");

  const again = await run("dataset.ts", ["upload", file("day.csv")], env);
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toContain(
    "there is a dataset already: 2 rows of day.csv; --replace replaces it with this file",
  );
  expect(again.stderr).not.toContain("63 B");

  const wrong = await run("dataset.ts", ["upload", file("wrong.csv"), "--replace"], env);
  expect(wrong.exitCode).toBe(1);
  await writeFile(file("night.csv"), `${csv}2024-01-04,info\n`);
  const replaced = await run("dataset.ts", ["upload", file("night.csv"), "--replace"], env);
  expect(replaced).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("3 rows of night.csv") });

  const shown = await run("dataset.ts", ["show", "--json"], env);
  expect(JSON.parse(shown.stdout)).toMatchObject({ rows: 3, time_field: "time" });

  const deleted = await run("dataset.ts", ["delete"], env);
  expect(deleted).toMatchObject({ exitCode: 0, stdout: "the dataset is deleted\nreset: dev\n" });
  const none = await run("dataset.ts", ["show"], env);
  expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("there is no dataset") });
});

test("a wrong key is found before a file is looked at", async () => {
  const key = { ...env, SANDBOX_API_KEY: "another-key" };
  const { exitCode, stderr } = await run("dataset.ts", ["upload", file("none.csv")], key);
  expect(exitCode).toBe(2);
  expect(stderr).toBe(
    "the twins do not know this key; theirs is printed when they start: --key, or SANDBOX_API_KEY\n",
  );
});

test("the first upload of the manual works as it is printed", async () => {
  const manual = await readFile(path.join(PROJECT, "twins/README.md"), "utf8");
  const [, printed = ""] = /^npm run dataset -- (upload .*?) *#/m.exec(manual) ?? [];
  const command = new Command("dataset.ts", printed.split(" "), env, undefined, PROJECT);
  expect(await command.finished()).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("reset: dev"),
  });
  await run("dataset.ts", ["delete"], env);
});

test("a reader that has enough of it ends it without a word", async () => {
  const names = Array.from({ length: 100 }, (_, index) => `column_${index}_${"x".repeat(1100)}`);
  await writeFile(file("wide.csv"), `${names.join()}\n${names.join()}\n`);
  const wide = ["--environment", "wide"];
  await run("dataset.ts", ["upload", file("wide.csv"), ...wide], env);
  for (const form of [[], ["--json"]]) {
    const args = [
      process.execPath,
      "--import",
      TSX,
      path.join(PROJECT, "scripts/dataset.ts"),
      "show",
      ...wide,
      ...form,
    ];
    const quoted = args.map((arg) => `'${arg}'`).join(" ");
    const { stdout, stderr } = await promisify(execFile)("sh", ["-c", `${quoted} | head -c 9`], {
      env: { PATH: process.env.PATH, ...env },
    });
    expect(stdout).toHaveLength(9);
    expect(stderr).toBe("");
  }
});

test("standard input is a file like any other", async () => {
  const command = new Command("dataset.ts", ["upload", "-", "--environment", "piped", "--json"], env, csv);
  const { exitCode, stdout } = await command.finished();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 2, file_name: null, sandboxes: [] });
});

test("gzip and the format of the name are understood; a format that the name denies is refused", async () => {
  const args = ["upload", file("day.ndjson.gz"), "--environment", "zipped"];
  const denied = await run("dataset.ts", [...args, "--format", "csv"], env);
  expect(denied.exitCode).toBe(1);
  expect(denied.stderr).toContain("the parameter format says csv, the file name says ndjson");
  const taken = await run("dataset.ts", [...args, "--json"], env);
  expect(JSON.parse(taken.stdout)).toMatchObject({ rows: 2, format: "ndjson" });
});

test("what is wrong with a file is listed with its places, and the rest counted", async () => {
  const { exitCode, stdout, stderr } = await run(
    "dataset.ts",
    ["upload", file("wrong.csv"), "--environment", "wrong"],
    env,
  );
  expect(exitCode).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toContain("the file is wrong in 120 places, and nothing of it was stored");
  expect(stderr).toContain("  line 101, column 2  the record has 1 value, the header names 2 columns");
  expect(stderr).not.toContain("line 102");
  expect(stderr).toContain("and 20 more");
});

test("what cannot be asked exits with 2 and says what to do", async () => {
  const cases: [string[], Record<string, string>, string][] = [
    [[], env, "say upload, show or delete"],
    [["upload"], env, "upload needs a file"],
    [["show", "--replace"], env, "--replace goes with upload"],
    [["upload", "a", "b"], env, "one file at a time"],
    [["show", "--format", "xml"], env, "--format: must be csv or ndjson"],
    [["show"], {}, "no twins run here: start them with npm run dev"],
    [["upload", file("none.csv")], env, "none.csv cannot be read: there is no such file, looked for from "],
    [["upload", folder], env, "it is a folder; name a CSV or NDJSON file, or - for standard input"],
    [["show", "--twins", "http://127.0.0.1:1", "--key", "k"], {}, "did not answer"],
  ];
  const outcomes = await Promise.all(cases.map(([args, given]) => run("dataset.ts", args, given)));
  outcomes.forEach(({ exitCode, stderr }, index) => {
    expect(exitCode).toBe(2);
    expect(stderr).toContain(cases[index]?.[2]);
  });
});

test("on a terminal a bar moves in place, within its width, and is gone at the end", () => {
  const written: string[] = [];
  const stream = { isTTY: true, columns: 60, write: (text: string) => written.push(text) };
  const progress = new Progress(stream, 2_000_000);
  progress.update(500_000);
  progress.update(2_000_000);
  progress.end();
  expect(written).toHaveLength(3);
  const bar = `${"█".repeat(6)}${"░".repeat(18)}`;
  expect(written[0]?.startsWith(`\r\u001b[K${bar}  25 %  500.0 kB of 2.0 MB`)).toBe(true);
  for (const text of written) expect(text.length).toBeLessThan(60 + 4);
  expect(written[2]).toBe("\r\u001b[K");
});
