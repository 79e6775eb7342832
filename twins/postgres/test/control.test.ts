import type { RunningTwins } from "@offhook/platform/server/start";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import postgresTwin from "../index.ts";
import { connect } from "../testing/postgres-twin.ts";
import { postgresService } from "../testing/tables.ts";

let twins: RunningTwins;
let databaseUrl: string;
let control: string;

beforeAll(async () => {
  twins = await startEnvironment(`version: 1\nservices: [${postgresService}]\n`, { twins: [postgresTwin] });
  const addresses = addressesOf(twins, "postgres");
  databaseUrl = addresses.environment.DATABASE_URL ?? "";
  control = addresses.control_url;
});
afterAll(() => twins.stop());

async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${control}/sim${path}`, {
    method,
    headers: { "x-api-key": twins.apiKey, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.json();
}

describe("the Postgres twin in a sandbox", () => {
  it("is reached by a connection string, and its control plane shows what was written there", async () => {
    const client = await connect(databaseUrl);
    await client.query("INSERT INTO incidents (service, severity, title) VALUES ('search', 2, 'Slow')");
    expect(await ask("GET", "/data?entity_type=incidents&title=Slow")).toMatchObject({
      total: 1,
      rows: [{ id: "INC-1042", status: "open" }],
    });
    await client.end();
  });

  it("takes a snapshot back, exactly, sequences included", async () => {
    const snapshot = await ask("POST", "/snapshot");
    const client = await connect(databaseUrl);
    await client.query("INSERT INTO incidents (service, severity, title) VALUES ('search', 2, 'Gone soon')");
    if (typeof snapshot !== "object" || snapshot === null || !("tables" in snapshot))
      throw new Error("no tables");
    await ask("POST", "/reset", { data: snapshot.tables });
    expect(await ask("POST", "/snapshot")).toMatchObject({ tables: snapshot.tables });
    const { rows } = await client.query("SELECT nextval('incident_number') AS next");
    expect(rows).toEqual([{ next: "1043" }]);
    await client.end();
  });

  it("lists as operations what its journal and its faults name: connection and statement", async () => {
    const { operations } = Object(await ask("GET", "/operations"));
    expect(operations).toEqual([
      {
        id: "connection",
        method: "CONNECT",
        path: "/:database",
        surface: null,
        summary: expect.stringMatching(/\.$/),
      },
      {
        id: "statement",
        method: "QUERY",
        path: "/:database",
        surface: null,
        summary: expect.stringMatching(/\.$/),
      },
    ]);
    expect(await ask("GET", "/operations?surface=rest")).toEqual({ operations: [] });
    const client = await connect(databaseUrl);
    await client.query("SELECT 1");
    await client.end();
    const { requests } = Object(await ask("GET", "/requests?tier=vendor"));
    const recorded = new Set(requests.map(({ operation }: { operation: string }) => operation));
    for (const id of recorded) expect(operations.map((one: { id: string }) => one.id)).toContain(id);
    expect(recorded).toContain("statement");
  });

  it("answers HTTP on its vendor address with a 404 that says how to connect", async () => {
    const response = await fetch(`${twins.baseUrl}/s/dev/postgres/anything`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("DATABASE_URL");
  });
});
