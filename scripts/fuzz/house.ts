/** Twins and agent as processes of their own, with a small dataset, and everything that is fuzzed of them. */
import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { indices } from "@offhook/elasticsearch/compare/indices";
import { load } from "@offhook/elasticsearch/compare/load";
import {
  dslQueries,
  elasticsearchRequests,
  elasticsearchShape,
  esqlQueries,
} from "@offhook/elasticsearch/testing/fuzz";
import {
  controlRequests,
  engineRequests,
  type ListedTable,
  organisationRequests,
  ownShape,
} from "@offhook/platform/testing/fuzz/platform";
import { type FuzzRequest, Sender } from "@offhook/platform/testing/fuzz/request";
import { isJson } from "@offhook/platform/testing/fuzz/rules";
import type { ListedOperation, Target } from "@offhook/platform/testing/fuzz/targets";
import { splQueries, splunkRequests, splunkShape } from "@offhook/splunk/testing/fuzz";
import { vapiRequests, vapiRows, vapiShape } from "@offhook/vapi/testing/fuzz";
import { z } from "zod";
import { SAMPLES_FOLDER } from "../shared/folders.ts";
import { type TwinsDescription, twinsDescription } from "../shared/twins-description.ts";
import { agentRequests, agentShape } from "./agent.ts";
import { Program } from "./program.ts";

/** Events of the dataset: enough for every value, few enough that an answer takes milliseconds. */
const EVENTS = 2_000;
/** Longest that the fuzzer's own requests may take, resets above all. */
const ASK_LIMIT_MS = 60_000;
const TOOL_SECRET = "secret-of-the-fuzzers-tools";

type Twin = TwinsDescription["sandboxes"][number]["twins"][number];

const sandboxAnswer = twinsDescription.shape.sandboxes.element;
const operationsAnswer = z.object({
  operations: z.array(z.object({ method: z.string(), path: z.string() })),
});
const schemaAnswer = z.object({
  tables: z.array(
    z.object({
      name: z.string(),
      key: z.string(),
      key_columns: z.array(z.string()).optional(),
      columns: z.array(
        z.object({
          name: z.string(),
          type: z.string(),
          required: z.boolean(),
          allowed: z.array(z.unknown()).optional(),
          references: z.string().optional(),
        }),
      ),
    }),
  ),
});
const rowsAnswer = z.object({ rows: z.array(z.record(z.string(), z.unknown())) });

export interface FuzzedHouse {
  twins: Program;
  agent: Program;
  targets: Target[];
  /** Addresses that are sent bytes. */
  wires: { name: string; speaks: "http" | "postgres"; host: string; port: number }[];
  /** Calls at the voice runtime that have not ended, each as JSON. */
  openCalls(): Promise<string[]>;
  /** What no answer may quote. */
  folders: string[];
  /** Removes the files. The programs have to have ended. */
  remove(): Promise<void>;
}

/** @throws Error when a program does not start */
export async function openHouse(): Promise<FuzzedHouse> {
  const folder = await mkdtemp(join(tmpdir(), "offhook-fuzz-"));
  const dataset = join(folder, "events.ndjson");
  await writeFile(dataset, await firstLines(join(SAMPLES_FOLDER, "datasets/hotline.ndjson.gz"), EVENTS));
  const environmentFile = join(folder, "environment.yaml");
  await writeFile(environmentFile, environmentText());
  const { program: twins, found } = await Program.start(
    "twins/main.ts",
    ["--json", "--environment", environmentFile],
    { cwd: folder, env: { TWINS_PORT: "0", LOG_LEVEL: "error", SANDBOX_LIMIT: "50" } },
    (line) => (line.startsWith('{"base_url"') ? twinsDescription.parse(JSON.parse(line)) : undefined),
  );
  const dev = found.sandboxes[0]?.twins ?? [];
  const ask = asker(found.api_key);
  const { program: agent, found: agentUrl } = await Program.start(
    "agent/main.ts",
    [],
    {
      cwd: folder,
      env: {
        ...Object.assign({}, ...dev.map(({ environment }) => environment)),
        PORT: "0",
        TOOL_SECRET,
        DRAIN_TIMEOUT_MS: "0",
      },
    },
    (line) => /"url":"(http:[^"]+)".*agent listens/.exec(line)?.[1],
  );
  return {
    twins,
    agent,
    targets: await targetsOf(found.base_url, found.api_key, dev, agentUrl, ask),
    wires: wiresOf(found.base_url, agentUrl, dev),
    openCalls: async () => {
      const runtime = dev.find(({ name }) => name === "vapi");
      const calls = async (status: string) =>
        rowsAnswer.parse(
          await ask("GET", `${runtime?.control_url}/sim/data?entity_type=calls&status=${status}&limit=1000`),
        ).rows;
      const open = [...(await calls("queued")), ...(await calls("in-progress"))];
      return open.map((call) => JSON.stringify(call));
    },
    folders: [folder],
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function environmentText(): string {
  const services = [
    "  - name: elasticsearch\n    dataset: events.ndjson",
    "  - name: splunk\n    dataset: events.ndjson",
    `  - name: postgres\n    config: { SCHEMA_PATH: ${SAMPLES_FOLDER}/tables/schema.sql, SEED_PATH: ${SAMPLES_FOLDER}/tables/seed.sql }`,
    "  - name: vapi",
  ];
  return `version: 1\nservices:\n${services.join("\n")}\n`;
}

async function firstLines(file: string, count: number): Promise<string> {
  const lines: string[] = [];
  const input = createReadStream(file);
  for await (const line of createInterface({ input: input.pipe(createGunzip()) })) {
    lines.push(line);
    if (lines.length === count) break;
  }
  input.destroy();
  return `${lines.join("\n")}\n`;
}

type Ask = (method: string, url: string, body?: object) => Promise<unknown>;

function asker(apiKey: string): Ask {
  return async (method, url, body) => {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(ASK_LIMIT_MS),
      method,
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${url} was answered with ${response.status}: ${answer.slice(0, 500)}`);
    return answer === "" ? undefined : JSON.parse(answer);
  };
}

async function targetsOf(
  baseUrl: string,
  apiKey: string,
  dev: readonly Twin[],
  agentUrl: string,
  ask: Ask,
): Promise<Target[]> {
  interface Vendor {
    requests(operations: readonly ListedOperation[]): Target["requests"];
    shape: Target["shape"];
    /** What its world has after a reset beside its own start. */
    rows?: object;
  }
  const vendors: Record<string, Vendor> = {
    elasticsearch: { requests: elasticsearchRequests, shape: elasticsearchShape },
    splunk: { requests: splunkRequests, shape: splunkShape },
    vapi: { requests: vapiRequests, shape: vapiShape, rows: vapiRows },
    engine: { requests: engineRequests, shape: ownShape },
  };
  const targets: Target[] = [];
  for (const [name, { requests, shape, rows }] of Object.entries(vendors)) {
    const twin = dev.find((one) => one.name === name);
    if (!twin) throw new Error(`no twin ${name} runs`);
    const { operations } = operationsAnswer.parse(await ask("GET", `${twin.control_url}/sim/operations`));
    const reset = async () => {
      await ask("POST", `${twin.control_url}/sim/reset`);
      if (rows !== undefined) await ask("POST", `${twin.control_url}/sim/data`, { data: rows });
    };
    await reset();
    targets.push({ name, baseUrl: twin.url, requests: requests(operations), shape, reset });
  }
  targets.push(...(await queryTargets(baseUrl, ask)));
  // Faults, clocks and rows of the control planes are a sandbox's of their own.
  const own = sandboxAnswer.parse(await ask("POST", `${baseUrl}/sandboxes`, {}));
  for (const { name, control_url: controlUrl } of own.twins) {
    const { tables } = schemaAnswer.parse(await ask("GET", `${controlUrl}/sim/schema`));
    const reset = async () => {
      await ask("DELETE", `${controlUrl}/sim/faults`);
      await ask("POST", `${controlUrl}/sim/reset-world`);
      await ask("POST", `${controlUrl}/sim/reset`);
    };
    const listed: ListedTable[] = [];
    for (const table of tables) {
      const { rows } = rowsAnswer.parse(
        await ask("GET", `${controlUrl}/sim/data?entity_type=${encodeURIComponent(table.name)}&limit=20`),
      );
      listed.push({ ...table, rows });
    }
    const requests = controlRequests(listed, apiKey);
    targets.push({ name: `control of ${name}`, baseUrl: controlUrl, requests, shape: ownShape, reset });
  }
  const nothing = async () => undefined;
  targets.push(
    { name: "sandboxes", baseUrl, requests: organisationRequests(apiKey), shape: ownShape, reset: nothing },
    {
      name: "agent",
      baseUrl: agentUrl,
      requests: agentRequests(TOOL_SECRET),
      shape: agentShape,
      reset: nothing,
    },
  );
  return targets;
}

/** Searches alone, by their language. */
async function queryTargets(baseUrl: string, ask: Ask): Promise<Target[]> {
  interface Language extends Pick<Target, "name" | "requests" | "shape"> {
    twin: string;
    /** Those of the sandbox; by default as in `dev`. */
    services?: object[];
    /** Gives the twin what is searched, after each reset. */
    prepare?(url: string): Promise<void>;
  }
  const languages: Language[] = [
    { name: "ES|QL", twin: "elasticsearch", requests: esqlQueries, shape: elasticsearchShape },
    {
      name: "Query DSL",
      twin: "elasticsearch",
      services: [{ name: "elasticsearch", config: { fidelity: "vendor" } }],
      requests: dslQueries,
      shape: elasticsearchShape,
      prepare: loadComparedIndices,
    },
    { name: "SPL", twin: "splunk", requests: splQueries, shape: splunkShape },
  ];
  const targets: Target[] = [];
  for (const { name, twin: wanted, services, prepare, requests, shape } of languages) {
    // Searches of SPL leave jobs and tables behind: no round is disturbed by the resets of others.
    const own = sandboxAnswer.parse(await ask("POST", `${baseUrl}/sandboxes`, services ? { services } : {}));
    const twin = own.twins.find((one) => one.name === wanted);
    if (!twin) throw new Error(`no twin ${wanted} runs`);
    const reset = async () => {
      await ask("POST", `${twin.control_url}/sim/reset`);
      await prepare?.(twin.url);
    };
    await reset();
    targets.push({ name: `queries in ${name}`, baseUrl: twin.url, requests, shape, reset });
  }
  return targets;
}

async function loadComparedIndices(url: string): Promise<void> {
  const sender = new Sender();
  try {
    const send = async (request: FuzzRequest) => {
      const { status, body } = await sender.send(url, request);
      return { status, body: isJson(body) ? JSON.parse(body) : body };
    };
    for (const [name, definition] of Object.entries(indices)) await load(send, name, definition);
  } finally {
    sender.close();
  }
}

function wiresOf(baseUrl: string, agentUrl: string, dev: readonly Twin[]): FuzzedHouse["wires"] {
  const at = (name: string, speaks: "http" | "postgres", url: string) => {
    const { hostname, port } = new URL(url);
    return { name, speaks, host: hostname, port: Number(port) };
  };
  const postgres = dev.find(({ name }) => name === "postgres");
  return [
    at("bytes to the gateway", "http", baseUrl),
    at("bytes to the agent", "http", agentUrl),
    ...(postgres ? [at("bytes to postgres", "postgres", postgres.url)] : []),
  ];
}
