/** A database server that ends under use: what is said meanwhile is true, and afterwards everything works. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunningTwins } from "@offhook/platform/server/start";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import postgresTwin from "../index.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../server/embedded-server.ts";
import { leaseServer, type ServerLease } from "../server/server.ts";
import { Supervisor } from "../server/supervisor.ts";
import { connect, silent } from "../testing/postgres-twin.ts";
import { postgresService } from "../testing/tables.ts";

let twins: RunningTwins;
let databaseUrl: string;
let control: string;

async function ask(method: string, path: string, body?: unknown) {
  const base = path.startsWith("/sandboxes") ? twins.baseUrl : `${control}/sim`;
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { "x-api-key": twins.apiKey, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { status, headers } = response;
  return { status, headers, body: status === 204 ? undefined : JSON.parse(await response.text()) };
}
type Answer = Awaited<ReturnType<typeof ask>>;

async function start(): Promise<void> {
  twins = await startEnvironment(`version: 1\nservices: [${postgresService}]\n`, { twins: [postgresTwin] });
  const addresses = addressesOf(twins, "postgres");
  databaseUrl = addresses.environment.DATABASE_URL ?? "";
  control = addresses.control_url;
}

async function postmasterOf(url: string): Promise<number> {
  const client = await connect(url);
  const { rows } = await client.query("SELECT current_setting('data_directory') AS folder");
  await client.end();
  const [pid] = (await readFile(join(rows[0].folder, "postmaster.pid"), "utf8")).split("\n");
  return Number(pid);
}

/** Every answer of the control plane until it is well again: each either works, or says 503 and what to do. */
async function untilWell(): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (;;) {
    const health = await ask("GET", "/health");
    answers.push(health);
    if (health.status === 200) return answers;
    expect(health).toMatchObject({ status: 503, body: { status: "down", problem: expect.any(String) } });
    for (const [method, path, body] of [
      ["GET", "/data"],
      ["POST", "/snapshot"],
      [
        "POST",
        "/data",
        { data: { services: [{ name: `s${answers.length}`, description: "Made in between." }] } },
      ],
      ["POST", "/reset", { profile: "default" }],
    ] as const) {
      const answer = await ask(method, path, body);
      answers.push(answer);
      if (answer.status === 503) {
        expect(answer.body.error).toMatchObject({
          code: "unavailable",
          message: expect.stringMatching(/again/),
        });
        expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      } else expect(answer.status).toBeLessThan(300);
    }
  }
}

const insert = "INSERT INTO incidents (service, severity, title) VALUES ('search', 2, $1)";

/** Answers whether the row was acknowledged. */
async function insertOnce(title: string): Promise<boolean> {
  const client = await connect(databaseUrl).catch(() => undefined);
  const done = await client?.query(insert, [title]).catch(() => undefined);
  await client?.end().catch(() => {});
  return done !== undefined;
}

/** Inserts one row after another and connects again whenever it has to; answers the titles that were acknowledged. */
async function keepInserting(name: string, over: () => boolean): Promise<string[]> {
  const acknowledged: string[] = [];
  let client: pg.Client | undefined;
  for (let count = 0; !over(); count++) {
    const title = `${name} ${count}`;
    try {
      client ??= await connect(databaseUrl);
      await client.query(insert, [title]);
      acknowledged.push(title);
    } catch {
      await client?.end().catch(() => {});
      client = undefined;
    }
  }
  await client?.end();
  return acknowledged;
}

describe("the embedded server, killed under use", () => {
  let lease: ServerLease;
  beforeEach(async () => {
    lease = await leaseServer(silent);
    await start();
  });
  afterEach(async () => {
    await twins.stop();
    await lease.release();
  });

  it("is started again with all that was committed; the control plane says 503 meanwhile and works afterwards", async () => {
    const made = await connect(databaseUrl);
    await made.query("CREATE TABLE notes (id serial PRIMARY KEY, words text)");
    await made.query("INSERT INTO notes (words) VALUES ('kept')");
    const lost = new Promise((resolve) => made.once("end", resolve));
    let over = false;
    const writers = ["a", "b", "c"].map((name) => keepInserting(name, () => over));
    await expect.poll(async () => (await ask("GET", "/data")).body.counts.incidents).toBeGreaterThan(20);

    process.kill(await postmasterOf(lease.server.adminUrl), "SIGKILL");
    await lost;
    // A reset that comes through would take away what is looked for: none is asked for here.
    await expect.poll(async () => (await ask("GET", "/health")).body.status).toBe("ok");
    const before = (await ask("GET", "/data")).body.counts.incidents;
    await expect
      .poll(async () => (await ask("GET", "/data")).body.counts.incidents)
      .toBeGreaterThan(before + 20);
    over = true;
    const acknowledged = (await Promise.all(writers)).flat();
    const { tables } = (await ask("POST", "/snapshot")).body;
    const titles = new Set(tables.incidents.map(({ title }: { title: string }) => title));
    expect(acknowledged.filter((title) => !titles.has(title))).toEqual([]);
    expect(tables.notes).toEqual([{ id: 1, words: "kept" }]);

    const client = await connect(databaseUrl);
    await client.query("INSERT INTO notes (words) VALUES ('recorded afterwards')");
    const { requests } = (await ask("GET", "/requests?operation=statement&limit=1000")).body;
    expect(JSON.stringify(requests)).toContain("recorded afterwards");
    await client.end();
    expect((await ask("POST", "/reset")).body).toMatchObject({ counts: { incidents: 3 } });
    const { body } = await ask("POST", "/sandboxes", {});
    expect(body.twins).toHaveLength(1);
    expect((await ask("DELETE", `/sandboxes/${body.id}`)).status).toBe(204);
  });

  it("is told of by health at each moment, in 503s of every route, and comes back as often as it is killed", async () => {
    for (let round = 0; round < 3; round++) {
      const idle = await connect(databaseUrl);
      const lost = new Promise((resolve) => idle.once("end", resolve));
      process.kill(await postmasterOf(lease.server.adminUrl), "SIGKILL");
      await lost;
      await untilWell();
      expect((await ask("POST", "/reset")).status).toBe(200);
      expect((await ask("GET", "/data")).body.counts).toMatchObject({ incidents: 3 });
    }
  });

  it("comes back although it is killed again as soon as it has a process, or takes connections", async () => {
    const { server } = lease;
    const admin = await connect(server.adminUrl);
    const { rows } = await admin.query("SELECT current_setting('data_directory') AS folder");
    const processNow = async () =>
      Number.parseInt(await readFile(join(rows[0].folder, "postmaster.pid"), "utf8").catch(() => ""), 10);
    admin.on("error", () => {});
    let last = Number.NaN;
    for (let kill = 0; kill < 4; kill++) {
      await expect
        .poll(async () => ![Number.NaN, last].includes(await processNow()), { interval: 1 })
        .toBe(true);
      if (kill > 1) await expect.poll(async () => (await ask("GET", "/health")).body.status).toBe("ok");
      last = await processNow();
      process.kill(last, "SIGKILL");
    }
    await expect.poll(processNow).not.toBe(last);
    await untilWell();
    await expect.poll(() => server.outage()).toBeUndefined();
  });

  it("recovers from a killed backend by itself, and the twin with it", async () => {
    const client = await connect(databaseUrl);
    await client.query("CREATE TABLE notes (words text)");
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    const lost = new Promise((resolve) => client.once("end", resolve));
    process.kill(rows[0].pid, "SIGKILL");
    await lost;
    // The server ends its other sessions one after another, so that one may answer for a moment still.
    const inserted = () => insertOnce("after the crash");
    await expect.poll(inserted).toBe(true);
    await untilWell();
    expect((await ask("GET", "/data?entity_type=incidents&title=after the crash")).body.total).toBe(1);
  });

  it("comes back although a backend computes on and never looks whether the server is gone", async () => {
    const client = await connect(databaseUrl);
    const pid = await postmasterOf(lease.server.adminUrl);
    const endless = client
      .query("SELECT count(*) FROM generate_series(1, 1e15)")
      .catch((error: Error) => error);
    const running = async () =>
      (await ask("GET", "/requests?operation=statement")).body.requests.some(
        ({ status }: { status: unknown }) => status === null,
      );
    await expect.poll(running).toBe(true);
    process.kill(pid, "SIGKILL");
    expect(await endless).toBeInstanceOf(Error);
    await untilWell();
  });

  it("tells those who watch of changes again without having been asked anything", async () => {
    const events = await fetch(`${control}/sim/watch`, { headers: { "x-api-key": twins.apiKey } });
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    const idle = await connect(databaseUrl);
    const lost = new Promise((resolve) => idle.once("end", resolve));
    process.kill(await postmasterOf(lease.server.adminUrl), "SIGKILL");
    await lost;
    let seen = "";
    const until = async (words: string) => {
      while (!seen.includes(words)) seen += (await reader?.read())?.value ?? "";
    };
    await until('"reset"');
    const client = await connect(databaseUrl);
    await client.query(insert, ["seen by watchers"]);
    await client.end();
    await until("seen by watchers");
    await reader?.cancel();
  });

  it("refuses clients as a server that takes no connections now, and has that on record", async () => {
    const idle = await connect(databaseUrl);
    const pid = await postmasterOf(lease.server.adminUrl);
    const lost = new Promise((resolve) => idle.once("end", resolve));
    process.kill(pid, "SIGKILL");
    await lost;
    const refused = await connect(databaseUrl).then(
      (client) => client.end(),
      (error: unknown) => error,
    );
    // It may be there again already; what is refused is refused in Postgres' words.
    if (refused !== undefined) expect(refused).toMatchObject({ code: "57P03", severity: "FATAL" });
    await untilWell();
  });
});

describe("a server that DATABASE_SERVER_URL names", () => {
  let server: EmbeddedServer;
  let pid: number;
  beforeAll(async () => {
    server = await startEmbeddedServer(silent);
    pid = await postmasterOf(server.adminUrl);
    process.env.DATABASE_SERVER_URL = server.adminUrl;
  });
  afterAll(async () => {
    delete process.env.DATABASE_SERVER_URL;
    await server.stop();
  });

  it("may go and come back: health is true, and everything works again", async () => {
    await start();
    const client = await connect(databaseUrl);
    await client.query(insert, ["before"]);
    const lost = new Promise((resolve) => client.once("end", resolve));
    process.kill(pid, "SIGKILL");
    await lost;
    await expect.poll(async () => (await ask("GET", "/health")).status).toBe(200);
    const again = await connect(databaseUrl);
    await again.query(insert, ["after"]);
    const { rows } = await again.query("SELECT title FROM incidents WHERE title IN ('before', 'after')");
    await again.end();
    expect(rows.map(({ title }) => title).sort()).toEqual(["after", "before"]);
    expect((await ask("GET", "/data?entity_type=incidents&title=after")).body.total).toBe(1);
    expect((await ask("POST", "/reset")).status).toBe(200);
    pid = await postmasterOf(server.adminUrl);
    await twins.stop();
  });

  it("that has stopped answering, though its port is open, is down within seconds", async () => {
    await start();
    const admin = await connect(server.adminUrl);
    const { rows } = await admin.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'offhook control'",
    );
    await admin.end();
    const processes = [pid, ...rows.map((row) => row.pid)];
    for (const one of processes) process.kill(one, "SIGSTOP");
    try {
      const health = await ask("GET", "/health");
      expect(health).toMatchObject({
        status: 503,
        body: { status: "down", problem: expect.stringContaining("no answer in 3 seconds") },
      });
    } finally {
      for (const one of processes) process.kill(one, "SIGCONT");
    }
    await untilWell();
    await twins.stop();
  });
});

describe("a supervised server", () => {
  const program = () => spawn(process.execPath, ["--eval", "process.stdin.resume()"], { stdio: "pipe" });
  const ended = (child: ChildProcess) => once(child, "exit");

  it("that does not start again is given up after so many tries, and says so", async () => {
    const child = program();
    let tries = 0;
    const launch = () => {
      tries++;
      return Promise.reject(new Error("no space left on device"));
    };
    const supervisor = new Supervisor({ child, launch, log: silent, pausesMs: [0, 1, 1] });
    expect(supervisor.outage).toBeUndefined();
    child.kill("SIGKILL");
    await ended(child);
    expect(supervisor.outage).toContain("try 1 of 3");
    await supervisor.settled();
    expect(tries).toBe(3);
    expect(supervisor.outage).toMatch(/did not start again in 3 tries; restart the twins/);
    await supervisor.stop();
  });

  it("that ends again and again has no more tries than one that does not start", async () => {
    let last = program();
    let tries = 0;
    const launch = async () => {
      tries++;
      last = program();
      last.kill("SIGKILL");
      await ended(last);
      return last;
    };
    const supervisor = new Supervisor({ child: last, launch, log: silent, pausesMs: [0, 1, 1] });
    last.kill("SIGKILL");
    await expect.poll(() => supervisor.outage).toContain("restart the twins");
    expect(tries).toBe(3);
    await supervisor.stop();
  });

  it("that is stopped while it waits for its next try stays stopped", async () => {
    const child = program();
    const launch = () => Promise.reject(new Error("not tried"));
    const supervisor = new Supervisor({ child, launch, log: silent, pausesMs: [3_600_000] });
    child.kill("SIGKILL");
    await ended(child);
    await supervisor.stop();
    expect(supervisor.outage).toContain("try 1 of 1");
  });
});
