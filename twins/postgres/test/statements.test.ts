/** Statements of the code under test are on record, without secrets. Proves a part of twins/SECURITY.md. */
import { once } from "node:events";
import { connect as connectSocket, type Socket } from "node:net";
import { liveClock } from "@offhook/platform/base/clock";
import { showEntry } from "@offhook/platform/control/requests";
import { Journal } from "@offhook/platform/journal/journal";
import { createMask } from "@offhook/platform/journal/mask";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { PostgresTwin } from "../index.ts";
import { connect, startPostgresTwin } from "../testing/postgres-twin.ts";

/** Holds many more records than any test makes, so that none is let go. */
const journal = new Journal(createMask({}), liveClock, {
  vendor: { entries: 20_000, bytes: 256 * 1024 * 1024 },
  control: { entries: 1, bytes: 1024 },
});
let twin: PostgresTwin;
let client: pg.Client;
let seen = 0;

beforeAll(async () => {
  twin = await startPostgresTwin({ journal });
  client = await connect(twin.url);
});
afterAll(async () => {
  await client.end();
  await twin.stop();
});
beforeEach(() => {
  seen = journal.entries().at(-1)?.seq ?? 0;
});

/** What this test ran. */
const records = () =>
  journal
    .entries()
    .filter(({ seq }) => seq > seen)
    .map(showEntry);
const statements = () =>
  records().map(({ body, status, response }) => ({ ...Object(body), status, ...Object(response?.body) }));

const insertIncident = "INSERT INTO incidents (service, severity, title) VALUES ($1, $2, $3) RETURNING id";

describe("a statement of the code under test", () => {
  it("of the simple protocol is recorded with command, rows, duration and both times", async () => {
    await client.query("SELECT name FROM services ORDER BY name LIMIT 3");
    const [record] = records();
    expect(record).toMatchObject({
      tier: "vendor",
      operation: "statement",
      method: "QUERY",
      path: new URL(twin.url).pathname,
      headers: { user: new URL(twin.url).username, protocol: "simple" },
      body: { statement: "SELECT name FROM services ORDER BY name LIMIT 3" },
      status: 200,
      response: { body: { command: "SELECT 3", rows: 3 } },
    });
    expect(record?.duration_ms).toBeGreaterThan(0);
    expect(Date.parse(record?.simulated_at ?? "")).toBeGreaterThan(0);
  });

  it("of the extended protocol is recorded with its parameters, as Postgres would write them", async () => {
    await client.query("SELECT $1::text, $2::int, $3::text, $4::bytea", [
      "a 'quote'",
      7,
      null,
      Buffer.from("hi"),
    ]);
    expect(statements()).toMatchObject([
      { parameters: ["a 'quote'", "7", null, { base64: "aGk=" }], rows: 1, status: 200 },
    ]);
  });

  it("that was prepared once is recorded with its text each time it runs", async () => {
    const prepared = (severity: number) =>
      client.query({
        name: "by-severity",
        text: "SELECT id FROM incidents WHERE severity = $1",
        values: [severity],
      });
    await prepared(1);
    await prepared(2);
    expect(statements()).toMatchObject([
      { statement: "SELECT id FROM incidents WHERE severity = $1", parameters: ["1"] },
      { statement: "SELECT id FROM incidents WHERE severity = $1", parameters: ["2"] },
    ]);
  });

  it("stands in the journal before its answer has come, without a status", async () => {
    const blocker = await connect(twin.url);
    await blocker.query("SELECT pg_advisory_lock(1)");
    const waiting = client.query("SELECT pg_advisory_lock(1)");
    await blocker.query("SELECT 1");
    await expect.poll(() => statements().map(({ status }) => status)).toEqual([200, null, 200]);
    await blocker.end();
    await waiting;
    expect(statements()[1]).toMatchObject({ status: 200 });
    await client.query("SELECT pg_advisory_unlock_all()");
  });

  it("of a message with several statements is one record with every command, its rows added up", async () => {
    await client.query("SELECT 1; SELECT 2 UNION SELECT 3; UPDATE incidents SET title = title");
    const [{ rows, command }] = statements();
    expect(command).toMatch(/^SELECT 1; SELECT 2; UPDATE \d+$/);
    expect(rows).toBe(3 + Number(command.split(" ").at(-1)));
  });

  it("names the application", async () => {
    const named = new pg.Client({ connectionString: twin.url, application_name: "hotline" });
    await named.connect();
    await named.query("SELECT 1");
    await named.query("SET application_name = 'night shift'");
    await named.query("SELECT 2");
    await named.end();
    expect(records().map(({ headers }) => headers.application_name)).toEqual([
      "hotline",
      "hotline",
      "night shift",
    ]);
  });

  it("longer than is kept is cut, and reaches the database whole", async () => {
    const { rows } = await client.query(`SELECT length('${"x".repeat(300_000)}') AS length`);
    expect(rows).toEqual([{ length: 300_000 }]);
    await client.query("SELECT length($1::text) AS length", ["y".repeat(300_000)]);
    const [long, wide] = statements();
    expect(long.statement).toMatch(/… \(cut\)$/);
    expect(wide.parameters[0]).toMatch(/^y{1024}… \(300000 bytes\)$/);
  });
});

describe("a statement that fails", () => {
  it("is recorded with SQLSTATE, message, and what it broke", async () => {
    await expect(client.query(insertIncident, ["nowhere", 2, "Lost"])).rejects.toThrow(/foreign key/);
    expect(statements()).toMatchObject([
      {
        status: 400,
        parameters: ["nowhere", "2", "Lost"],
        error: { severity: "ERROR", sqlstate: "23503", table: "incidents", constraint: expect.any(String) },
      },
    ]);
  });

  it.each([
    ["when it is parsed", () => client.query("SELEKT $1", ["x"]), "42601"],
    ["when its parameters are bound", () => client.query("SELECT $1::int", ["seven"]), "22P02"],
    ["in the simple protocol", () => client.query("SELECT 1 / 0"), "22012"],
  ])("%s is one record", async (_when, run, sqlstate) => {
    await expect(run()).rejects.toThrow();
    expect(statements()).toMatchObject([{ status: 400, error: { sqlstate } }]);
    await client.query("SELECT 1");
    expect(statements()).toHaveLength(2);
  });

  it("within a transaction leaves the rest of it failing, each on record", async () => {
    await client.query("BEGIN");
    await expect(client.query("SELECT * FROM nothing")).rejects.toThrow();
    await expect(client.query("SELECT 1")).rejects.toThrow();
    await client.query("ROLLBACK");
    expect(statements().map(({ status, error }) => [status, error?.sqlstate])).toEqual([
      [200, undefined],
      [400, "42P01"],
      [400, "25P02"],
      [200, undefined],
    ]);
  });

  it("because it was cancelled says so", async () => {
    const sleeping = expect(client.query("SELECT pg_sleep(30)")).rejects.toThrow(/cancel/);
    const watching = await connect(twin.url);
    // The role that connected sees its own statements; the one it takes on does not.
    await watching.query("SET ROLE NONE");
    const active = "SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(30)' AND state = 'active'";
    // A cancellation that comes before the statement has begun does nothing.
    await expect.poll(async () => (await watching.query(active)).rowCount).toBe(1);
    await watching.end();
    const cancel = Buffer.alloc(16);
    cancel.writeUInt32BE(16, 0);
    cancel.writeUInt32BE(80877102, 4);
    cancel.writeUInt32BE(Reflect.get(client, "processID"), 8);
    cancel.writeUInt32BE(Reflect.get(client, "secretKey") >>> 0, 12);
    const { hostname, port } = new URL(twin.url);
    const socket = connectSocket(Number(port), hostname);
    socket.end(cancel);
    await once(socket.resume(), "close");
    await sleeping;
    expect(statements()[0]).toMatchObject({ status: 400, error: { sqlstate: "57014" } });
  });

  it("because the connection went away is told from one that failed", async () => {
    const leaving = await connect(twin.url);
    const running = leaving.query("SELECT pg_sleep(30)").catch(() => undefined);
    await expect.poll(() => statements().length).toBe(1);
    const { stream }: RawConnection = Object(Reflect.get(leaving, "connection"));
    stream.resetAndDestroy();
    await running;
    await expect
      .poll(() => statements())
      .toMatchObject([{ status: 424, error: { message: /connection ended/ } }]);
  });
});

/** The parts of a driver's connection that are used here and are missing from its types, or wrong there. */
interface RawConnection {
  stream: Socket;
  query(text: string): void;
  parse(message: { text: string }): void;
  bind(message: { values: string[] }): void;
  execute(message: object): void;
  sync(): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Gives a driver's connection to `send`; answers the command tags and the SQLSTATE that came back. */
function exchange(
  on: pg.Client,
  send: (connection: RawConnection) => void,
  copyIn: (connection: RawConnection) => void = () => {},
): Promise<string[]> {
  const outcomes: string[] = [];
  return new Promise((resolve) => {
    on.query(
      Object.assign(
        { submit: (connection: unknown) => send(Object(connection)) },
        {
          handleRowDescription() {},
          handleDataRow() {},
          handleCopyInResponse: copyIn,
          handleCommandComplete: ({ text }: { text: string }) => outcomes.push(text),
          handleError({ code }: { code: string }) {
            outcomes.push(code);
            resolve(outcomes);
          },
          handleReadyForQuery: () => resolve(outcomes),
        },
      ),
    );
  });
}

/** Messages of the extended protocol sent in one go, as drivers with a pipeline mode send them. */
function pipeline(on: pg.Client, parts: [text: string, ...values: string[]][]): Promise<string[]> {
  return exchange(on, (connection) => {
    connection.stream.cork();
    for (const [text, ...values] of parts) {
      connection.parse({ text });
      connection.bind({ values });
      connection.execute({});
    }
    connection.sync();
    connection.stream.uncork();
  });
}

describe("statements sent in one go", () => {
  it("are told apart, and those behind one that fails are marked as not run", async () => {
    const other = await connect(twin.url);
    const outcomes = await pipeline(other, [
      ["SELECT $1::text", "one"],
      ["SELECT 1 / $1::int", "0"],
      ["SELECT $1::text", "three"],
    ]);
    expect(outcomes).toEqual(["SELECT 1", "22012"]);
    expect(statements()).toMatchObject([
      { parameters: ["one"], status: 200, rows: 1 },
      { parameters: ["0"], status: 400, error: { sqlstate: "22012" } },
      { parameters: ["three"], status: 424, error: { message: /not run/ } },
    ]);
    await other.query("SELECT 'after'");
    expect(statements()[3]).toMatchObject({ statement: "SELECT 'after'", status: 200 });
    await other.end();
  });

  it("that fail at the end of their transaction have a record of that", async () => {
    await client.query(
      "CREATE TABLE later (id int PRIMARY KEY, of int REFERENCES later DEFERRABLE INITIALLY DEFERRED)",
    );
    await expect(client.query("INSERT INTO later VALUES ($1, $2)", [1, 9])).rejects.toThrow(/foreign key/);
    expect(statements().slice(1)).toMatchObject([
      { statement: "INSERT INTO later VALUES ($1, $2)", status: 200 },
      { statement: "COMMIT", status: 400, error: { sqlstate: "23503" } },
    ]);
  });
});

describe("COPY", () => {
  const copyText = "COPY pets FROM STDIN";

  /** Sends the Sync before the data, as most drivers do, and again after it, as they have to. */
  function beginExtended(connection: RawConnection): void {
    connection.parse({ text: copyText });
    connection.bind({ values: [] });
    connection.execute({});
    connection.sync();
  }

  function copy(connection: RawConnection): void {
    connection.sendCopyFromChunk(Buffer.from("Tom\nJerry\nSpike\n"));
    connection.endCopyFrom();
  }

  it.each([
    ["simple", (connection: RawConnection) => connection.query(copyText), copy],
    [
      "extended",
      beginExtended,
      (connection: RawConnection) => {
        copy(connection);
        connection.sync();
      },
    ],
  ])("in the %s protocol is one record with its rows; its data is not kept", async (_name, begin, copyIn) => {
    const other = await connect(twin.url);
    await other.query("CREATE TEMPORARY TABLE pets (name text)");
    expect(await exchange(other, begin, copyIn)).toEqual(["COPY 3"]);
    await other.query("SELECT name FROM pets WHERE name = $1", ["Tom"]);
    expect(statements().slice(1)).toMatchObject([
      { statement: copyText, rows: 3, status: 200 },
      { parameters: ["Tom"], rows: 1, status: 200 },
    ]);
    expect(JSON.stringify(records())).not.toContain("Spike");
    await other.end();
  });
});

describe("secrets", () => {
  it("of the connection never reach the journal", async () => {
    const wrong = new URL(twin.url);
    const { password } = wrong;
    wrong.password = "not-the-password";
    await expect(connect(wrong.href)).rejects.toThrow(/password/);
    await (await connect(twin.url)).end();
    expect(records()).toMatchObject([
      {
        method: "CONNECT",
        status: 400,
        response: { body: { error: { severity: "FATAL", sqlstate: "28P01" } } },
      },
    ]);
    expect(JSON.stringify(journal.entries().map(showEntry))).not.toContain(password);
    expect(JSON.stringify(records())).not.toContain("not-the-password");
  });

  it("in statements and their parameters are masked", async () => {
    await client.query('CREATE TEMPORARY TABLE people (name text, "Password" text, x text)');
    await client.query("INSERT INTO people SELECT 'Ada', 'plain' WHERE 'x' = 'y' /* password */");
    await client.query('UPDATE people SET "Password" = $1 WHERE name = $2', ["hush-1", "Ada"]);
    await client.query("UPDATE people SET \"Password\"=E'hush\\'-2', x = 'seen'");
    await client.query("ALTER ROLE nobody PASSWORD $x$hush-3$x$").catch(() => undefined);
    await client.query("SELECT 'host=db password=hush-4'::text");
    const shown = JSON.stringify(records());
    expect(shown).not.toMatch(/hush/);
    expect(shown).toContain("plain");
    expect(shown).toContain("x = 'seen'");
    expect(statements()[2]).toMatchObject({ parameters: ["***", "Ada"] });
  });
});

describe("the way to the database", () => {
  it("carries what the control plane does on no record of the code under test", async () => {
    await twin.world.counts();
    expect(records()).toEqual([]);
  });

  it("carries many connections of pools at once, each statement on record with its own outcome", async () => {
    const pool = new pg.Pool({ connectionString: twin.url, max: 20 });
    const results = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) =>
        pool.query("SELECT n FROM generate_series(1, $1::int) n", [n % 50]),
      ),
    );
    await pool.end();
    expect(results.map(({ rowCount }) => rowCount)).toEqual(Array.from({ length: 1_000 }, (_, n) => n % 50));
    const found = statements();
    expect(found).toHaveLength(1_000);
    expect(found.every(({ parameters, rows }) => Number(parameters[0]) === rows)).toBe(true);
  });

  it("carries an answer of many megabytes whole", async () => {
    const { rows } = await client.query(
      "SELECT md5(string_agg(t, '')) AS sum FROM (SELECT repeat('z', 1000) t FROM generate_series(1, 20000)) s",
    );
    const all = await client.query("SELECT repeat('z', 1000) AS t FROM generate_series(1, 20000)");
    expect(all.rows).toHaveLength(20_000);
    const { createHash } = await import("node:crypto");
    expect(
      createHash("md5")
        .update(all.rows.map(({ t }) => t).join(""))
        .digest("hex"),
    ).toBe(rows[0].sum);
    expect(statements()[1]).toMatchObject({ rows: 20_000 });
  });

  it("declines encryption as a server without certificates does, and ends what is no Postgres", async () => {
    const { hostname, port } = new URL(twin.url);
    const asking = connectSocket(Number(port), hostname);
    asking.write(Buffer.from("0000000804d2162f", "hex"));
    const [answer] = await once(asking, "data");
    expect(String(answer)).toBe("N");
    asking.destroy();
    const stranger = connectSocket(Number(port), hostname);
    stranger.write("GET / HTTP/1.1\r\n\r\n");
    await once(stranger.resume(), "close");
  });

  it("is closed at once to a client that ends its side in the middle of the startup packet, as Postgres does it", async () => {
    const { hostname, port } = new URL(twin.url);
    const leaver = connectSocket({ host: hostname, port: Number(port), allowHalfOpen: true });
    leaver.end(Buffer.from("0000002900030000", "hex"));
    await once(leaver.resume(), "close");
  });

  it("is open again after a reset, on the same address", async () => {
    const other = await connect(twin.url);
    const sleeping = expect(other.query("SELECT pg_sleep(30)")).rejects.toThrow();
    await expect.poll(() => statements().length).toBe(1);
    await Promise.all([twin.reset(), sleeping]);
    expect(statements()).toMatchObject([{ status: 400, error: { severity: "FATAL", sqlstate: "57P01" } }]);
    const again = await connect(twin.url);
    expect((await again.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await again.end();
    client = await connect(twin.url);
  });
});
