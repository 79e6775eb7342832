/** The twin's bounds: time, queue, sizes, and disconnecting clients. */
import { gzipSync } from "node:zlib";
import { raw } from "@offhook/log-store/sql";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import { sendRaw } from "@offhook/platform/testing/raw-http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { asVendorError } from "../../api/answer.ts";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";
import { vendorErrorResponse } from "../../vendor/error.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  await sandbox.raw("PUT", "/logs/_doc/1", { m: "x" });
});
afterAll(() => sandbox.stop());

/** Runs for minutes unless interrupted: one row for each of 100⁶ combinations. */
function slowQuery(): string {
  const values = Array.from({ length: 100 }, (_, number) => number).join(", ");
  const names = ["a", "b", "c", "d", "e", "f"];
  const columns = names.map((name) => `${name} = [${values}]`).join(", ");
  return `ROW ${columns} | ${names.map((name) => `MV_EXPAND ${name}`).join(" | ")} | STATS n = SUM(a + b + c + d + e + f)`;
}

function ask(query: string, signal: AbortSignal): Promise<Response> {
  return fetch(`${sandbox.url}/_query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
    signal,
  });
}

describe("a query that takes long", () => {
  test("is refused with the vendor's 429 when too many wait, and ends when its client leaves", async () => {
    const leaving = new AbortController();
    const refused: Promise<Response>[] = [];
    // Two running and 256 waiting queries are the maximum.
    const asked = Array.from({ length: 262 }, () => {
      const answer = ask(slowQuery(), leaving.signal);
      refused.push(answer);
      return answer.then(
        () => "answered",
        () => "left",
      );
    });
    const answer = await Promise.any(refused);
    expect(answer.status).toBe(429);
    expect(await answer.json()).toMatchObject({
      error: {
        type: "es_rejected_execution_exception",
        reason: expect.stringMatching(/^rejected execution of /),
      },
      status: 429,
    });
    leaving.abort();
    expect((await Promise.all(asked)).filter((outcome) => outcome === "left").length).toBeGreaterThan(250);
    // The two running queries end at their deadline of 30 seconds unless their clients leave; until then the
    // queue stays full.
    const counted = async () =>
      expect((await sandbox.raw("POST", "/_count")).body).toMatchObject({ count: 1 });
    await vi.waitFor(counted, { timeout: 15_000 });
  });

  test("a query at its deadline is the vendor's 504", async () => {
    const store = await openLogStore();
    const slow = raw("SELECT sum(hash(a.i + b.i)) FROM range(1000000) a(i), range(1000000) b(i)");
    const ended = await store.query(slow, { deadlineMs: 20 }).catch((error: unknown) => error);
    await store.close();
    expect(vendorErrorResponse(asVendorError(ended))).toMatchObject({
      status: 504,
      body: {
        error: {
          type: "search_timeout_exception",
          reason: expect.stringMatching(/^Time exceeded: the query was ended by its deadline after \d+ ms$/),
        },
      },
    });
  });
});

describe("a body of more than 100 MB is the vendor's 413, which has no body", () => {
  const MAX_BYTES = 100 * 1024 * 1024;

  test("when its header says so in advance", async () => {
    const { host, pathname } = new URL(sandbox.url);
    const head = `POST ${pathname}/_bulk HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/x-ndjson\r\n`;
    const answer = await sendRaw(sandbox.url, `${head}content-length: ${MAX_BYTES + 1}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\ncontent-length: 0\r\n[\s\S]*\r\n\r\n$/i);
  });

  test("when it was compressed", async () => {
    const headers = { "content-type": "application/x-ndjson", "content-encoding": "gzip" };
    const body = gzipSync(Buffer.alloc(MAX_BYTES + 1, "\n"), { level: 1 });
    expect(await sandbox.raw("POST", "/_bulk", body, headers)).toMatchObject({ status: 413, text: "" });
  });
});

describe("versions of the API", () => {
  const media = (version: number) => `application/vnd.elasticsearch+json; compatible-with=${version}`;
  const search = (accept: number, content: number) =>
    sandbox.raw("POST", "/_search", {}, { accept: media(accept), "content-type": media(content) });

  test("7 is served beside 8, and the answer says which", async () => {
    for (const version of [7, 8]) {
      const { status, headers } = await search(version, version);
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe(
        `application/vnd.elasticsearch+json;compatible-with=${version}`,
      );
    }
  });

  test("that differ between the body and the answer are refused", async () => {
    expect(await search(7, 8)).toMatchObject({
      status: 400,
      body: {
        error: {
          type: "media_type_header_exception",
          caused_by: {
            reason: expect.stringMatching(
              /^A compatible version is required on both Content-Type and Accept/,
            ),
          },
        },
      },
    });
  });

  test("9 is refused in either header", async () => {
    const refusal = (which: string, header: string) => ({
      status: 400,
      body: {
        error: {
          type: "media_type_header_exception",
          reason: `Invalid media-type value on headers [${which}]`,
          caused_by: {
            reason: expect.stringContaining(`${header} version must be either version 8 or 7, but found 9.`),
          },
        },
      },
    });
    expect(await search(9, 9)).toMatchObject(refusal("Content-Type, Accept", "Accept"));
    expect(await sandbox.raw("POST", "/_search", {}, { "content-type": media(9) })).toMatchObject(
      refusal("Content-Type", "Content-Type"),
    );
  });
});
