/** Proofs of what the manual says of every twin's files, callback destination and journal. */
import { once } from "node:events";
import net from "node:net";
import { PROBE_TIMEOUT_MS } from "@offhook/platform/client/probe";
import { MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES } from "@offhook/platform/files/file-store";
import { makeApiKey } from "@offhook/platform/http/api-keys";
import { changeLogLimits } from "@offhook/platform/journal/change-log";
import { defaultJournalLimits, MAX_BODY_BYTES } from "@offhook/platform/journal/journal";
import { request } from "@offhook/platform/testing/http";
import { startWebhookServer } from "@offhook/platform/testing/webhook-server";
import { MAX_TRACED_ROWS } from "@offhook/platform/world/traced-change";
import { expect } from "vitest";
import { type TwinUnderTest, twinDefinitions } from "../../support/every-twin.ts";
import type { Proofs } from "./proof.ts";

function upload(twin: TwinUnderTest, name: string, body: Uint8Array | string, type = "text/plain") {
  const url = `${twin.controlUrl}/sim/files?${new URLSearchParams({ name })}`;
  return request("POST", url, { headers: { "x-api-key": twin.twins.apiKey, "content-type": type }, body });
}

/** A server that does to each connection what it is told. */
async function tcpServer(answer: (socket: net.Socket) => void) {
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    answer(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { port: address.port, close: () => server.close() };
}

async function inBatches(total: number, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < total; start += 100) {
    const size = Math.min(100, total - start);
    await Promise.all(Array.from({ length: size }, (_, index) => work(start + index)));
  }
}

export const fileProofs: Proofs = {
  async "files.body"(twin) {
    const bytes = Buffer.from([0, 255, 10, 13, 0]);
    const added = await upload(twin, "raw bytes.bin", bytes, "application/x-thing; a=b");
    expect(added.status).toBe(201);
    expect(added.body).toMatchObject({ name: "raw bytes.bin", type: "application/x-thing; a=b", size: 5 });
    const response = await fetch(`${twin.controlUrl}/sim/files/raw%20bytes.bin`, {
      headers: { "x-api-key": twin.twins.apiKey },
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.get("content-type")).toBe("application/x-thing; a=b");
    expect((await upload(twin, "form", "x", "multipart/form-data; boundary=x")).status).toBe(400);
    const part = (file: string, text: string) =>
      `--x\r\ncontent-disposition: form-data; name="f"; filename="${file}"\r\n\r\n${text}\r\n`;
    const form = (body: string) =>
      request("POST", `${twin.controlUrl}/sim/files`, {
        headers: { "x-api-key": twin.twins.apiKey, "content-type": "multipart/form-data; boundary=x" },
        body: `${body}--x--\r\n`,
      });
    expect((await form(part("new.txt", "1") + part("raw bytes.bin", "2"))).status).toBe(409);
    expect((await twin.control("GET", "/files/new.txt")).status).toBe(404);
    expect((await form(part("new.txt", "1"))).body).toMatchObject({ name: "new.txt", size: 1 });
    const unnamed = await twin.control("POST", "/files", "no name");
    expect((await twin.control("GET", `/files/${unnamed.body.name}`)).text).toBe("no name");
  },
  async "files.limits"(twin) {
    expect((await upload(twin, "large", Buffer.alloc(MAX_FILE_BYTES + 1))).status).toBe(413);
    for (let count = 0; count < MAX_TOTAL_BYTES / MAX_FILE_BYTES; count++) {
      expect((await upload(twin, `full ${count}`, Buffer.alloc(MAX_FILE_BYTES))).status).toBe(201);
    }
    const full = await upload(twin, "one more", "x");
    expect(full.status).toBe(413);
    expect(full.body.error.message).toContain(String(MAX_TOTAL_BYTES));
    await twin.control("POST", "/reset");
    await inBatches(MAX_FILES, (index) => upload(twin, `small ${index}`, "x"));
    expect((await upload(twin, "one too many", "x")).body.error.message).toContain(String(MAX_FILES));
  },
  async "files.names"(twin) {
    for (const name of ["a/b", "a\\b", "..", ".", "a\nb", "a\0b", "", "é".repeat(101)]) {
      expect((await upload(twin, name, "x")).status).toBe(422);
    }
    for (const name of ["é".repeat(100), "...", "a%2Fb", "# ? & =", "__proto__"]) {
      expect((await upload(twin, name, `content of ${name}`)).status).toBe(201);
      const fetched = await twin.control("GET", `/files/${encodeURIComponent(name)}`);
      expect(fetched.text).toBe(`content of ${name}`);
    }
  },
  async "files.again"(twin) {
    await upload(twin, "same", "first");
    expect((await upload(twin, "same", "first")).status).toBe(409);
    expect((await twin.control("GET", "/files/same")).text).toBe("first");
  },
  async "files.table"(twin) {
    await upload(twin, "listed", "hello");
    const listed = (await twin.control("GET", "/data?entity_type=files&name=listed")).body;
    expect(listed).toMatchObject({ total: 1, rows: [{ name: "listed", type: "text/plain", size: 5 }] });
    expect(Object.keys(listed.rows[0])).toEqual(["name", "type", "size", "sha256", "created_at"]);
    const removal = await twin.control("DELETE", "/data", { entity_type: "files", key: "listed" });
    expect(removal.body).toMatchObject({ removed: 1 });
    expect((await twin.control("DELETE", "/files/listed")).status).toBe(404);
    if (twin.name !== "postgres") return;
    const { default: pg } = await import("pg");
    const client = new pg.Client({ connectionString: twin.url });
    await client.connect();
    await client.query("CREATE TABLE files (id int PRIMARY KEY)");
    await client.end();
    await upload(twin, "beside", "x");
    const { counts } = (await twin.control("GET", "/data")).body;
    expect(counts).toMatchObject({ files: 0, sim_files: 1 });
    expect((await twin.control("GET", "/data?entity_type=sim_files")).body.total).toBe(1);
  },
};

export const clientProofs: Proofs = {
  async "client.again"({ control }) {
    await control("PUT", "/client", { url: "http://127.0.0.1:1/one" });
    await control("PUT", "/client", { url: "http://127.0.0.1:1/two" });
    expect((await control("GET", "/client")).body.url).toBe("http://127.0.0.1:1/two");
  },
  async "client.secret"({ control }) {
    const secret = "hook-secret-0123456789";
    const url = `http://127.0.0.1:1/hook?token=${secret}`;
    const answers = [
      await control("PUT", "/client", { url, headers: { authorization: `Bearer ${secret}`, "x-a": secret } }),
      await control("GET", "/client"),
      await control("POST", "/client/probe"),
      await control("PUT", "/client", {
        url: `http://user:${secret}@127.0.0.1/`,
        headers: { "x a": secret },
      }),
      await control("GET", "/requests?limit=1000"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 422, 200]);
    for (const { text } of answers) expect(text).not.toContain(secret);
    expect(answers[1]?.body.headers).toEqual({ authorization: "***", "x-a": "***" });
  },
  async "client.none"({ control }) {
    for (const method of ["GET", "DELETE"]) expect((await control(method, "/client")).status).toBe(404);
    const probed = await control("POST", "/client/probe");
    expect(probed.status).toBe(200);
    expect(probed.body).toMatchObject({ reachable: false, outcome: "not_registered", status: null });
  },
  async "client.probe"({ control, name }) {
    const probe = async (url: string) => {
      expect((await control("PUT", "/client", { url, headers: { "x-hook": "value" } })).status).toBe(200);
      return (await control("POST", "/client/probe")).body;
    };
    const hook = await startWebhookServer();
    hook.answer = () => ({ status: 302, headers: { location: "/elsewhere" }, body: "x".repeat(200_000) });
    expect(await probe(hook.url)).toMatchObject({ outcome: "answered", status: 302, code: null });
    expect(hook.calls).toMatchObject([{ path: "/", headers: { "x-hook": "value" } }]);
    hook.answer = () => ({ status: 500 });
    const answered = await probe(hook.url);
    expect(answered).toMatchObject({ reachable: true, outcome: "answered", status: 500 });
    expect(answered.latency_ms).toBeGreaterThan(0);
    expect(await probe(hook.url.replace("http:", "https:"))).toMatchObject({ outcome: "tls_error" });
    await hook.stop();
    expect(await probe(hook.url)).toMatchObject({
      reachable: false,
      outcome: "refused",
      code: "ECONNREFUSED",
      status: null,
    });
    expect(await probe("http://nothing.invalid/")).toMatchObject({ outcome: "dns_failure", status: null });
    const garbage = await tcpServer((socket) => socket.end("this is no HTTP\r\n\r\n"));
    expect(await probe(`http://127.0.0.1:${garbage.port}`)).toMatchObject({ outcome: "not_http" });
    garbage.close();
    const dropping = await tcpServer((socket) => socket.once("data", () => socket.destroy()));
    expect(await probe(`http://127.0.0.1:${dropping.port}`)).toMatchObject({ outcome: "connection_lost" });
    dropping.close();
    if (name !== "engine") return;
    const sockets: net.Socket[] = [];
    const silent = await tcpServer((socket) => sockets.push(socket));
    const late = await probe(`http://127.0.0.1:${silent.port}`);
    expect(late).toMatchObject({ outcome: "timeout", status: null });
    expect(late.latency_ms).toBeGreaterThan(PROBE_TIMEOUT_MS - 100);
    for (const socket of sockets) socket.destroy();
    silent.close();
  },
};

export const journalProofs: Proofs = {
  async "journal.bounds"(twin) {
    const { vendor, control, refused } = defaultJournalLimits;
    const before = (await twin.control("GET", "/requests?limit=1")).body.dropped;
    await inBatches(vendor.entries + 50, () => twin.vendor("GET", "/nothing-here"));
    await inBatches(control.entries + 50, () => twin.control("GET", "/health"));
    const after = (await twin.control("GET", "/requests?limit=1")).body;
    expect(after.dropped.vendor).toBeGreaterThanOrEqual(before.vendor + 50);
    expect(after.dropped.control).toBeGreaterThanOrEqual(before.control + 50);
    expect((await twin.control("GET", "/requests?tier=vendor&limit=1")).body.total).toBe(vendor.entries);
    expect(
      (await twin.control("GET", "/requests?tier=control&status=200&limit=1")).body.total,
    ).toBeLessThanOrEqual(control.entries);
    const { total } = (await twin.control("GET", "/requests?tier=control&limit=1")).body;
    expect(total).toBeGreaterThanOrEqual(control.entries);
    expect(total).toBeLessThanOrEqual(control.entries + refused.entries);
  },
  async "journal.refused"(twin) {
    const { refused } = defaultJournalLimits;
    const ask = (key: Record<string, string>, secret: string) =>
      request("POST", `${twin.controlUrl}/sim/data?token=${secret}`, {
        headers: { ...key, "user-agent": "stranger", "x-note": secret },
        body: { data: secret },
      });
    await twin.control("GET", "/health");
    const before = (await twin.control("GET", "/requests?tier=control&limit=1000")).body;
    expect((await ask({}, "secret-of-others-1")).status).toBe(401);
    expect((await ask({ "x-api-key": "wrong-key-of-others" }, "secret-of-others-2")).status).toBe(401);
    const after = await twin.control("GET", `/requests?tier=control&since=${before.newest_seq}&status=401`);
    expect(after.body.requests).toMatchObject([
      { method: "POST", path: "/sim/data", operation: "data.add", query: { token: "***" }, body: null },
      { headers: { "user-agent": "stranger", "x-api-key": "***" }, status: 401 },
    ]);
    expect(after.text).not.toMatch(/of-others/);
    await inBatches(refused.entries + 50, () => ask({}, "x"));
    const flooded = (await twin.control("GET", "/requests?tier=control&limit=1000")).body.requests;
    const count = (entries: { status: number }[], wanted: number) =>
      entries.filter(({ status }) => status === wanted).length;
    expect(count(flooded, 401)).toBe(refused.entries);
    expect(count(flooded, 200)).toBeGreaterThanOrEqual(count(before.requests, 200));
  },
  async "journal.bodies"(twin) {
    const size = MAX_BODY_BYTES * 3;
    await upload(twin, "streamed", Buffer.alloc(size, "x"));
    await twin.control("GET", "/files/streamed");
    const { requests } = (await twin.control("GET", "/requests?operation=files.get&limit=1000")).body;
    expect(requests.at(-1).response.body).toMatchObject({ truncated: true, original_bytes: size });
    expect(requests.at(-1).response.body.text).toHaveLength(MAX_BODY_BYTES);
    const uploads = (await twin.control("GET", "/requests?operation=files.add&limit=1000")).body.requests;
    expect(uploads.at(-1).body).toMatchObject({ truncated: true, original_bytes: size });
  },
  async "journal.since"(twin) {
    await twin.vendor("GET", "/nothing-here");
    const { newest_seq } = (await twin.control("GET", "/requests?limit=1")).body;
    const page = await twin.control("GET", `/requests?tier=vendor&since=${newest_seq - 2}`);
    const last = page.body.requests.at(-1);
    await twin.vendor("GET", "/nothing-here");
    const after = (since: string | number) =>
      twin.control("GET", `/requests?${new URLSearchParams({ tier: "vendor", since: `${since}` })}`);
    expect((await after(last.seq)).body.total).toBe(1);
    expect((await after(last.received_at)).body.total).toBeGreaterThanOrEqual(2);
    expect((await after("2999-01-01T00:00:00Z")).body.total).toBe(0);
    expect((await after("yesterday")).status).toBe(422);
    const count = async (status: string) =>
      (await twin.control("GET", `/requests?tier=vendor&status=${status}`)).body.total;
    expect(await count("404")).toBeGreaterThanOrEqual(2);
    expect(await count("4xx")).toBeGreaterThanOrEqual(await count("404"));
    expect(await count("5xx")).toBe(0);
    expect((await twin.control("GET", "/requests?status=9xx")).status).toBe(422);
    const at = async (path: string) =>
      (await twin.control("GET", `/requests?${new URLSearchParams({ tier: "vendor", path })}`)).body.total;
    expect(await at("/nothing*re")).toBe(await at("/nothing-here"));
    expect(await at("/nothing-here")).toBeGreaterThanOrEqual(2);
    expect(await at("/nothing")).toBe(0);
  },
  async "journal.one"(twin) {
    await twin.control("GET", "/health");
    const { requests, newest_seq } = (
      await twin.control("GET", "/requests?operation=health&order=newest&limit=1")
    ).body;
    expect((await twin.control("GET", `/requests/${requests[0].seq}`)).body).toEqual(requests[0]);
    for (const seq of [0, newest_seq + 1000]) {
      expect((await twin.control("GET", `/requests/${seq}`)).status).toBe(404);
    }
  },
  async "journal.sandbox"(twin, every) {
    const word = `wörd-${twin.name}`;
    await twin.control("POST", "/snapshot", { word });
    await every.of("engine").control("GET", "/health");
    const read = async (query: Record<string, string>) => {
      const search = new URLSearchParams({ limit: "1000", order: "newest", ...query });
      const url = `${twin.twins.baseUrl}/sandboxes/dev/requests?${search}`;
      return (await request("GET", url, { headers: { "x-api-key": twin.twins.apiKey } })).body;
    };
    const all = (await read({})).requests;
    const found = all.find((row: { path: string }) => row.path === "/sim/snapshot");
    expect(found).toMatchObject({ twin: twin.name, method: "POST", status: 422 });
    const other = { twin: "engine", operation: "health", sql: null, notes: false };
    expect(all).toContainEqual(expect.objectContaining(other));
    const times = all.map(({ received_at }: { received_at: string }) => received_at);
    expect(times).toEqual([...times].sort().reverse());
    expect((await read({ text: word, twin: twin.name })).requests).toEqual([found]);
    expect((await read({ text: word.toUpperCase() })).total).toBe(0);
    const range = { since: found.received_at, until: found.received_at, twin: twin.name };
    expect((await read(range)).requests).toContainEqual(found);
  },
  async "changes.bounds"({ twins, name, control, declared, sample }) {
    const read = async (query: string) => {
      const url = `${twins.baseUrl}/sandboxes/dev/changes?twin=${name}&order=newest&${query}`;
      return (await request("GET", url, { headers: { "x-api-key": twins.apiKey } })).body;
    };
    await control("POST", "/data", { data: { [sample.table]: [sample.rows[0]] } });
    const [added] = (await read("limit=1")).changes;
    const { table, key, rows } = sample;
    expect(added).toMatchObject({ table, change: "insert", key: { [key]: rows[0][key] }, row: rows[0] });
    await control("POST", "/reset");
    const afterReset = (await read("limit=2")).changes;
    expect(afterReset[0]).toMatchObject({ change: "reset", row: null });
    expect(afterReset[1]).toEqual(added);
    const many = Array.from({ length: MAX_TRACED_ROWS + 20 }, (_, index) => ({
      ...declared.rows[0],
      [declared.key]: `many-${index}`,
    }));
    expect((await control("POST", "/data", { data: { [declared.table]: many } })).status).toBe(201);
    const [others, last] = (await read("limit=2")).changes;
    expect(others).toMatchObject({ table: declared.table, change: "insert", row: null, rows: 20 });
    expect(last).toMatchObject({ row: { [declared.key]: `many-${MAX_TRACED_ROWS - 1}` } });
    expect((await read("limit=1")).total).toBeLessThanOrEqual(changeLogLimits.entries);
  },
  async "watch.sandbox"({ twins, name, control, sample }) {
    const url = `${twins.baseUrl}/sandboxes/dev/watch?requests=all&twin=${name}`;
    const leaving = new AbortController();
    const { signal } = leaving;
    const answer = await fetch(url, { headers: { "x-api-key": twins.apiKey }, signal });
    await control("POST", "/data", { data: { [sample.table]: [sample.rows[0]] } });
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of answer.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (/event: change\n.*\n\n/.test(text) && /event: request\n.*"data\.add".*\n\n/.test(text)) break;
    }
    leaving.abort();
    expect(text.startsWith("event: ready\n")).toBe(true);
  },
  async "journal.secrets"(twin) {
    const definition = twinDefinitions().find(({ name }) => name === twin.name);
    const declared = definition?.credentials?.(twin.url) ?? [];
    const learned = [twin.twins.apiKey, makeApiKey(), "learned-credential-1"];
    const http = twin.url.startsWith("http") ? twin.url : `${twin.twins.baseUrl}/s/dev/${twin.name}`;
    await request("GET", `${http}/x`, { headers: { authorization: `Bearer ${learned[2]}` } });
    for (const secret of [...declared, ...learned]) {
      expect(secret.length).toBeGreaterThan(8);
      const escaped = `\\u${secret.charCodeAt(0).toString(16).padStart(4, "0")}${secret.slice(1)}`;
      const bodies = [
        JSON.stringify({ note: [`see ${secret}!`], [secret]: 1 }),
        `{"note": "${escaped}"}`,
        `note=${encodeURIComponent(secret)}&x=1`,
        `plain text with ${secret} in it`,
        `{"a":1}\n{"b":"${secret}"}\n`,
        Buffer.concat([Buffer.from([255, 0]), Buffer.from(secret)]),
      ];
      for (const base of [http, `${twin.controlUrl}/sim`]) {
        const key = base === http ? {} : { "x-api-key": twin.twins.apiKey };
        const planted = {
          ...key,
          "x-note": secret,
          referer: `http://x/?k=${secret}`,
          "x-api-version": secret,
        };
        await request("GET", `${base}/some/${secret}/where?key=${secret}&${secret}=1`, { headers: planted });
        const paths =
          base === http
            ? ["/call", "/assistant", "/simulations", "/simulations/x/events"]
            : ["/data", "/reset", "/faults", "/files?name=secret"];
        for (const path of paths)
          for (const body of bodies) {
            await request("POST", `${base}${path}`, { headers: planted, body });
            await request("DELETE", `${twin.controlUrl}/sim/files/secret`, { headers: planted });
          }
      }
    }
    await twin.control("GET", "/manual");
    await twin.control("GET", "/requests?limit=1000");
    const kept: string[] = [];
    for (let offset = 0; ; offset += 1000) {
      const page = await twin.control("GET", `/requests?limit=1000&offset=${offset}`);
      if (page.body.requests.length === 0) break;
      kept.push(page.text);
    }
    expect(kept.join("").length).toBeGreaterThan(10_000);
    for (const secret of [...declared, ...learned]) {
      expect(kept.filter((text) => text.includes(secret))).toEqual([]);
    }
  },
};
