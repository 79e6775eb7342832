/** The files that a request may name. Proves a part of twins/SECURITY.md. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathsWithin } from "@offhook/platform/sandboxes/given-reach";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { type AskSandboxes, sandboxRoutes } from "@offhook/platform/testing/sandboxes";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startProjectTwins } from "../../../twins/start.ts";

/** Stands in every file that a request may not read, and in those that are no dataset, script or SQL. */
const SECRET = "sk-live-4242";
/** How each service names a file, or several. */
const services: Record<string, (file: string) => object> = {
  "a dataset of elasticsearch": (dataset) => ({ name: "elasticsearch", dataset }),
  "a dataset of splunk": (dataset) => ({ name: "splunk", dataset }),
  "SCHEMA_PATH of postgres": (file) => ({ name: "postgres", config: { SCHEMA_PATH: file } }),
  "SEED_PATH of postgres": (file) => ({ name: "postgres", config: { SEED_PATH: file } }),
  "a profile of postgres": (file) => ({ name: "postgres", config: { profiles: { other: file } } }),
  "a script of vapi": (script) => ({ name: "vapi", config: { script } }),
  "samples of vapi": (samples) => ({
    name: "vapi",
    config: { recognition: { provider: "samples", samples } },
  }),
};

let root: string;
/** Folder of the environment file. */
let base: string;
let twins: RunningTwins;
let ask: AskSandboxes;

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "given-reach-"));
  base = path.join(root, "project");
  const write = async (file: string, text: string) => {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  };
  for (const file of [".env", "project/.env", "project/key.pem", "project/data-other/x.csv"]) {
    await write(file, `KEY\n${SECRET}\n`);
  }
  for (const file of [".env", ".offhook/authority.pem", "sub/.env"]) {
    await write(`project/data/${file}`, `KEY\n${SECRET}\n`);
  }
  await write("project/data/day.csv", "level\ninfo\n");
  await write("project/data/broken.csv", `a,b\n${SECRET}\n`);
  await write("project/data/broken.yaml", `brain: [${SECRET}\n`);
  await write("project/data/broken.sql", `INSERT INTO "${SECRET}" VALUES (1);`);
  await write("project/data/samples/manifest.json", `{"${SECRET}"`);
  await write("project/environment.yaml", "version: 1\nservices: []\nrequest_folders: [data]\n");
  const link = (to: string, name: string) => symlink(to, path.join(base, "data", name));
  await link("../../.env", "out.csv");
  await link("../data-other", "out");
  await link(".env", "hidden.csv");
  await link("/proc/self/environ", "environ.csv");
  await link("day.csv", "inside.csv");
  await link("day.csv", ".inside.csv");
  await link("loop", "loop");
  twins = await startProjectTwins({ environmentFile: path.join(base, "environment.yaml") });
  ask = sandboxRoutes(twins);
});
afterAll(async () => {
  await twins?.stop();
  await rm(root, { recursive: true });
});

const hostile = () => [
  "../.env",
  "../../.env",
  "key.pem",
  "environment.yaml",
  path.join(base, ".env"),
  path.join(base, "key.pem"),
  path.join(base, "data", ".env"),
  "data/.env",
  "data/.ENV",
  "data/sub/.env",
  "data/.offhook/authority.pem",
  "data/.offhook",
  "data/sub/../.env",
  "data/../.env",
  "data/../key.pem",
  "data-other/x.csv",
  "data/out.csv",
  "data/out/x.csv",
  "data/out",
  "data/hidden.csv",
  "data/.inside.csv",
  "data/environ.csv",
  "data/loop",
  "data/%2e%2e/.env",
  "..%2f.env",
  "data/day.csv\0.env",
  "\0",
  "/proc/self/environ",
  "/proc/self/cwd/.env",
  "/dev/zero",
  "/etc/passwd",
  "file:///etc/passwd",
  `${"../".repeat(40)}etc/passwd`,
  `data/${"x".repeat(5000)}`,
  `data/${"sub/../".repeat(2000)}.env`,
  "data/nowhere.csv",
  "DATA/.env",
  "~/.ssh/id_rsa",
];

describe("a file that a request names", () => {
  const below = (file: string) => pathsWithin(base, ["data"])(file);

  test("is one below a declared folder, or there is one refusal in the same words for all", () => {
    for (const file of hostile()) {
      expect(() => below(file), file).toThrow(
        /^a request may not name the file "[^\n]{1,250}"; it may name an existing one below data /,
      );
    }
    expect(below("data/day.csv")).toMatch(/data\/day\.csv$/);
    expect(below("data/sub/../inside.csv")).toMatch(/data\/day\.csv$/);
    expect(below(path.join(base, "data", "day.csv"))).toMatch(/data\/day\.csv$/);
    expect(() => pathsWithin(base, [])("data/day.csv")).toThrow("declares no request_folders");
  });

  test("never leads out of the declared folder, however its path is put together", () => {
    const names = ["..", ".", "data", "sub", "out", "out.csv", "hidden.csv", ".env", "day.csv", ".offhook"];
    const more = [
      "authority.pem",
      "",
      "data-other",
      "x.csv",
      "key.pem",
      "loop",
      "%2e%2e",
      "\0",
      "DATA",
      "...",
    ];
    const part = fc.oneof(fc.constantFrom(...names, ...more), fc.string({ maxLength: 4 }));
    const file = fc
      .tuple(fc.constantFrom("", "/", "data/", `${base}/`, `${base}/data/`), fc.array(part, { maxLength: 8 }))
      .map(([start, parts]) => start + parts.join("/"));
    const allowed = ["", "/day.csv", "/sub", "/broken.csv", "/broken.yaml", "/broken.sql", "/samples"];
    const real = below("data/day.csv").replace(/\/day\.csv$/, "");
    fc.assert(
      fc.property(file, (given) => {
        let found: string;
        try {
          found = below(given);
        } catch (error) {
          expect(String(error)).toContain("a request may not name the file");
          return;
        }
        expect(found.startsWith(real)).toBe(true);
        expect(allowed).toContain(found.slice(real.length));
      }),
      { numRuns: 3000 },
    );
  });

  test.each(Object.keys(services))("%s is refused when it is any other", async (field) => {
    const make = services[field] ?? (() => ({}));
    for (const file of hostile()) {
      const answer = await ask("POST", "", { id: "hostile", services: [make(file)] });
      expect(answer.status, `${file}: ${answer.text}`).toBe(422);
      expect(answer.body.error.message, file).toContain("a request may not name the file");
      expect(answer.text).not.toContain(SECRET);
    }
    expect((await ask("GET", "")).body.sandboxes).toHaveLength(1);
  });

  test.each(Object.entries(services))("%s that cannot be used is not quoted", async (field, make) => {
    const kind = field.includes("dataset")
      ? "broken.csv"
      : field.includes("script")
        ? "broken.yaml"
        : "broken.sql";
    const file = `data/${field.includes("samples") ? "samples" : kind}`;
    const made = await ask("POST", "", { id: "broken", services: [make(file)] });
    // The SQL of a profile is run by the reset that names it, which is told even less.
    const isProfile = field.includes("profile");
    const answer = isProfile ? await resetTo("other") : made;
    await ask("DELETE", "/broken");
    expect(answer.status, answer.text).toBe(isProfile ? 500 : 422);
    for (const { text } of [made, answer]) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(root);
    }
    if (!isProfile) {
      expect(answer.text).toContain(file);
      expect(answer.text).toContain("cannot be used; the twins' log says why");
    }
  });

  test("is read when it is below a declared folder", async () => {
    const given = [{ name: "elasticsearch", dataset: "data/inside.csv" }];
    const { status, body, text } = await ask("POST", "", { id: "own", services: given });
    expect(status, text).toBe(201);
    const { url } = body.twins.find(({ name }: { name: string }) => name === "elasticsearch");
    expect((await request("GET", `${url}/_search`)).body.hits.hits).toHaveLength(1);
  });
});

function resetTo(profile: string) {
  return request("POST", `${twins.baseUrl}/c/broken/postgres/sim/reset`, {
    headers: { "x-api-key": twins.apiKey },
    body: { profile },
  });
}
