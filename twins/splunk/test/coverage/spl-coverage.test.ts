import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { measure } from "../../coverage/measure.ts";
import { readRepository } from "../../coverage/repository.ts";
import { reasonsOf, tableOf } from "../../coverage/table.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "detections-"));
  const files = {
    "detections/web/served.yml":
      "name: served\nsearch: '| head `limit(2)` \n| fields a, b | `served_filter`'\n",
    "detections/web/refused.yml": "name: refused\nsearch: '| head 1 | anomalydetection a'\n",
    "detections/web/wrong.yml": "name: wrong\nsearch: '| head limit=x'\n",
    "detections/web/nothing.yml": "name: nothing\n",
    "macros/limit.yml": "name: limit(1)\narguments:\n- n\ndefinition: limit=$n$\n",
    "macros/served_filter.yml": "name: served_filter\ndefinition: head 1\n",
    "lookups/hosts.yml": "name: hosts\nfilename: hosts.csv\n",
    "lookups/hosts.csv": '"host",owner\nweb1,alice\n',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
});
afterAll(() => rm(folder, { recursive: true }));

test("a checkout's searches, macros and lookups are read", async () => {
  const { detections, macros, lookups } = await readRepository(folder);
  expect(detections.map(({ file }) => path.basename(file))).toEqual([
    "refused.yml",
    "served.yml",
    "wrong.yml",
  ]);
  expect(macros).toContainEqual({ name: "limit", args: ["n"], definition: "limit=$n$" });
  expect(lookups).toEqual([{ name: "hosts", fields: ["host", "owner"] }]);
  await expect(readRepository(path.join(folder, "macros"))).rejects.toThrow(
    "a checkout of security_content has it",
  );
});

test("each search is told to be read and to run, or why not", async () => {
  const outcomes = await measure(await readRepository(folder), () => {});
  expect(outcomes.map(({ unread, failed }) => [unread === undefined, failed])).toEqual([
    [true, "'anomalydetection' is not served"],
    [true, undefined],
    [
      false,
      expect.stringContaining("Invalid option value. Expecting a 'non-negative integer' for option 'limit'"),
    ],
  ]);
  const table = tableOf(outcomes);
  expect(table).toContain("| head | yes | 3 | 2 (66.7 %) | 1 (33.3 %) |");
  expect(table).toContain("| anomalydetection | no | 1 | 1 | 0 (0.0 %) |");
  expect(reasonsOf(outcomes)).toContain("1  'anomalydetection' is not served");
});
