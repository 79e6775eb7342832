/** Proofs of what the manual says of every twin: rows, snapshots, resets, time and faults. */
import pg from "pg";
import { expect } from "vitest";
import { twinNames } from "../../support/every-twin.ts";
import type { Proofs } from "./proof.ts";

async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

export const commonProofs: Proofs = {
  async "refusals.shape"({ control }) {
    const answer = await control("POST", "/data", { data: { one: [{}], two: [{}] } });
    expect(answer.body).toEqual({
      error: { code: expect.any(String), message: expect.any(String), problems: expect.any(Array) },
    });
    expect(answer.body.error.problems).toHaveLength(2);
  },
  async "pages.size"({ control, sample }) {
    for (const path of [`/data?entity_type=${sample.table}`, "/requests", "/files"]) {
      const page = await control("GET", path);
      expect(page.body).toMatchObject({ limit: 100, offset: 0, total: expect.any(Number) });
      const more = `${path}${path.includes("?") ? "&" : "?"}`;
      expect((await control("GET", `${more}limit=1000`)).status).toBe(200);
      expect((await control("GET", `${more}limit=1001`)).status).toBe(422);
      expect((await control("GET", `${more}limit=1e2`)).status).toBe(422);
      expect((await control("GET", `${more}offset=0x10`)).status).toBe(422);
    }
  },
  async "rows.filter"({ control, sample, url }) {
    const { table, key, rows, nullable, parent } = sample;
    await control("POST", "/data", { data: { [table]: rows } });
    const read = (query: Record<string, string>) => control("GET", `/data?${new URLSearchParams(query)}`);
    const found = await read({ entity_type: table, [key]: String(rows[0][key]) });
    expect(found.body).toMatchObject({ total: 1, rows: [rows[0]] });
    expect((await read({ entity_type: table, shoe: "1" })).status).toBe(422);
    if (!nullable || !parent) return;
    const { table: other, column, empty, full, text, make } = nullable;
    if (make !== undefined) await runSql(url, make);
    await control("POST", "/data", { data: { [parent.table]: [parent.row], [other]: [empty, full] } });
    expect((await read({ entity_type: other, [column]: "null" })).body.rows).toMatchObject([empty]);
    expect((await read({ entity_type: other, [text]: "null" })).body.rows).toMatchObject([empty]);
    expect((await read({ entity_type: other, [column]: "5" })).body.rows).toMatchObject([full]);
  },
  async "rows.select"({ control, sample }) {
    const { table, key, rows, change: changes } = sample;
    await control("POST", "/data", { data: { [table]: rows } });
    const value = rows[0][key];
    const selections = [{ key: value }, { key: { [key]: value } }, { where: { [key]: value } }];
    for (const selection of selections) {
      const answer = await control("PATCH", "/data", { entity_type: table, ...selection, changes });
      expect(answer.body).toMatchObject({ updated: 1 });
    }
    const named = { data: { [table]: [{ [key]: value, ...changes }] } };
    expect((await control("PATCH", "/data", named)).body.updated).toEqual({ [table]: 1 });
    const filter = new URLSearchParams({ entity_type: table, [key]: String(rows[1][key]) });
    expect((await control("DELETE", `/data?${filter}`)).body).toMatchObject({ removed: 1 });
    for (const selection of [{}, { key: value, where: { [key]: value } }, { where: {} }]) {
      const answer = await control("DELETE", "/data", { entity_type: table, ...selection });
      expect(answer.status).toBe(422);
    }
  },
  async "rows.no-match"({ control, sample: { table, key, change: changes } }) {
    const named = { data: { [table]: [{ [key]: "none", ...changes }] } };
    expect((await control("PATCH", "/data", named)).status).toBe(422);
    expect((await control("PATCH", "/data", { entity_type: table, key: "none", changes })).status).toBe(404);
    expect((await control("DELETE", "/data", { entity_type: table, key: "none" })).status).toBe(404);
  },
  async "rows.key"({ control, sample: { table, key, rows } }) {
    await control("POST", "/data", { data: { [table]: rows } });
    const changes = { [key]: "other" };
    const answer = await control("PATCH", "/data", { entity_type: table, key: rows[0][key], changes });
    expect(answer.status).toBe(422);
    expect(answer.body.error.problems).toMatchObject([{ table, column: key }]);
  },
  async "rows.whole"({ control, sample: { table, rows, badChange } }) {
    const before = (await control("POST", "/snapshot")).body;
    const data = { [table]: [rows[0], { ...rows[1], ...badChange }] };
    expect((await control("POST", "/data", { data })).status).toBe(422);
    const after = (await control("POST", "/snapshot")).body;
    expect(after.tables).toEqual(before.tables);
    expect(after.state_version).toBe(before.state_version);
  },
  async "rows.again"({ control, sample: { table, rows } }) {
    const data = { [table]: rows };
    expect((await control("POST", "/data", { data })).status).toBe(201);
    const before = (await control("POST", "/snapshot")).body.tables;
    expect((await control("POST", "/data", { data })).status).toBe(422);
    expect((await control("POST", "/snapshot")).body.tables).toEqual(before);
  },
  async "snapshot.exact"({ control, sample }) {
    await control("POST", "/data", { data: { [sample.table]: sample.rows } });
    await control("POST", "/files?name=kept", "bytes");
    const snapshot = (await control("POST", "/snapshot")).body;
    const { tables } = snapshot;
    for (const body of [snapshot, { data: snapshot }, { data: tables }]) {
      await control("POST", "/reset");
      expect((await control("POST", "/reset", body)).status).toBe(200);
      expect((await control("POST", "/snapshot")).body.tables).toEqual(tables);
    }
    expect((await control("POST", "/snapshot")).body.tables).toEqual(tables);
    expect((await control("GET", "/files/kept")).text).toBe("bytes");
    const left = sample.child?.table ?? sample.table;
    const { [left]: _left, files: _files, ...rest } = tables;
    const counts = (await control("POST", "/reset", { data: rest })).body.counts;
    expect(counts).toMatchObject({ [left]: 0, files: 0 });
  },
  async "snapshot.hash"({ control, sample }) {
    const take = async () => (await control("POST", "/snapshot", { content_hash: true })).body;
    const first = await take();
    expect(first.content_hash).toMatch(/^[0-9a-f]{64}$/);
    await control("POST", "/data", { data: { [sample.table]: sample.rows } });
    expect((await take()).content_hash).not.toBe(first.content_hash);
    await control("POST", "/reset", { data: first.tables });
    expect((await take()).content_hash).toBe(first.content_hash);
  },
  async "difference.reset"({ control, sample }) {
    const read = async () => {
      const { status, body, text } = await control("GET", "/difference");
      expect(status, text).toBe(200);
      return body;
    };
    expect(await read()).toMatchObject({ tables: {}, rows: [], total: 0 });
    const { table, key, rows, change } = sample;
    await control("POST", "/data", { data: { [table]: rows } });
    await control("PATCH", "/data", { entity_type: table, key: rows[0][key], changes: change });
    const { tables, rows: found } = await read();
    expect(tables[table]).toEqual({ added: 2, changed: 0, removed: 0 });
    expect(found).toContainEqual(
      expect.objectContaining({
        table,
        difference: "added",
        key: { [key]: rows[0][key] },
        row: expect.objectContaining(change),
      }),
    );
    const snapshot = (await control("POST", "/snapshot")).body;
    await control("POST", "/reset");
    expect(await read()).toMatchObject({ tables: {}, total: 0 });
    await control("POST", "/reset", snapshot);
    const given = await control("GET", "/difference");
    if (given.status === 422) expect(given.body.error.message).toContain("reset to given data");
    else expect(given.body.tables).toEqual({});
    const many = Array.from({ length: 1001 }, (_, index) => ({ ...rows[0], [key]: `many-${index}` }));
    await control("POST", "/reset");
    expect((await control("POST", "/data", { data: { [table]: many } })).status).toBe(201);
    const after = await read();
    expect(after.tables[table]).toEqual({ added: 1001, changed: 0, removed: 0 });
    expect([[], [table]]).toContainEqual(after.uncompared);
    expect(after.total).toBe(after.uncompared.length === 0 ? 1001 : 0);
  },
  async "reset.one"({ control, sample }) {
    const start = (await control("POST", "/snapshot")).body.tables;
    await control("POST", "/data", { data: { [sample.table]: sample.rows } });
    const before = (await control("POST", "/snapshot")).body.tables;
    for (const body of [{ profile: "a", data: {} }, { other: 1 }, { data: start, force: true }]) {
      expect((await control("POST", "/reset", body)).status).toBe(422);
    }
    expect((await control("POST", "/snapshot")).body.tables).toEqual(before);
    expect((await control("POST", "/reset")).status).toBe(200);
    expect((await control("POST", "/snapshot")).body.tables).toEqual(start);
  },
  async "reset.files"({ control }) {
    await control("POST", "/files?name=gone", "bytes");
    expect((await control("POST", "/reset")).body.counts).toMatchObject({ files: 0 });
    expect((await control("GET", "/files/gone")).status).toBe(404);
  },
  async "reset.keeps"({ control }) {
    const now = "2030-01-01T00:00:00.000Z";
    await control("PUT", "/clock", { now, frozen: true });
    await control("PUT", "/client", { url: "http://127.0.0.1:1/hook" });
    const { newest_seq } = (await control("GET", "/requests")).body;
    await control("POST", "/reset");
    expect((await control("GET", "/clock")).body).toMatchObject({ now, mode: "frozen" });
    expect((await control("GET", "/client")).body).toMatchObject({ url: "http://127.0.0.1:1/hook" });
    const journal = (await control("GET", `/requests?since=${newest_seq - 1}`)).body;
    expect(journal.requests[0]).toMatchObject({ seq: newest_seq, operation: "requests.read" });
  },
  async "clock.shared"({ control }, every) {
    const now = "2031-01-01T00:00:00.000Z";
    await control("PUT", "/clock", { now, frozen: true });
    const read = async (name: string) => (await every.of(name).control("GET", "/clock")).body;
    for (const name of twinNames) expect(await read(name)).toMatchObject({ now, mode: "frozen" });
    await control("POST", "/reset-world");
    for (const name of twinNames) expect(await read(name)).toMatchObject({ mode: "live" });
  },
  async "faults.statuses"({ control }) {
    const { fault_statuses } = (await control("GET", "/manual")).body;
    for (const status of fault_statuses) {
      expect((await control("POST", "/faults", { effect: "status", status, all: true })).status).toBe(201);
    }
    const armed = (await control("GET", "/faults")).body.faults.length;
    expect(armed).toBe(fault_statuses.length);
    expect((await control("POST", "/faults", { effect: "status", status: 299, all: true })).status).toBe(422);
    expect((await control("GET", "/faults")).body.faults).toHaveLength(armed);
  },
  async "faults.templates"({ control }) {
    const { operations } = (await control("GET", "/operations")).body;
    const ids = [...new Set(operations.map(({ id }: { id: string }) => id))];
    const general = (await control("GET", "/faults/templates")).body.templates;
    expect(general.length).toBeGreaterThan(5);
    expect(ids).toEqual(
      expect.arrayContaining(
        general.flatMap(({ fault }: { fault: { operation?: string } }) => fault.operation ?? []),
      ),
    );
    const armed = new Set<string>();
    const arm = async (templates: { name: string; description: string; fault: object }[]) => {
      for (const { name, description, fault } of templates) {
        const text = JSON.stringify(fault);
        if (armed.has(text)) continue;
        armed.add(text);
        const answer = await control("POST", "/faults", fault);
        expect(answer.status, `${name}: ${description} ${answer.text}`).toBe(201);
        expect(answer.body).toMatchObject(fault);
        await control("DELETE", `/faults/${answer.body.id}`);
      }
    };
    await arm(general);
    for (const id of ids) {
      const { templates } = (await control("GET", `/faults/templates?operation=${id}`)).body;
      expect(templates.length).toBeGreaterThan(2);
      for (const { fault } of templates) expect(fault.operation).toBe(id);
      await arm(templates);
    }
    expect((await control("GET", "/faults/templates?operation=no.such")).status).toBe(422);
  },
  async "faults.reset"({ control, name }) {
    // Of a twin that does not speak HTTP only what can be armed is armed.
    const fault = { effect: "reset", all: true };
    const armed = (await control("POST", "/faults", fault)).status;
    expect(armed === 201 || name === "postgres").toBe(true);
    expect((await control("GET", "/health")).status).toBe(200);
    const { tables } = (await control("POST", "/snapshot")).body;
    expect(Object.keys(tables)).not.toContain("faults");
    await control("POST", "/reset");
    expect((await control("GET", "/faults")).body.faults).toEqual([]);
  },
};
