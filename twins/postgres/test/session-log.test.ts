import { SandboxClock } from "@offhook/platform/base/clock";
import { showEntry } from "@offhook/platform/control/requests";
import { Journal } from "@offhook/platform/journal/journal";
import { createMask } from "@offhook/platform/journal/mask";
import { heldBytes } from "@offhook/platform/testing/held-memory";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SessionLog } from "../statements/session-log.ts";

function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const header = Buffer.alloc(5);
  header.write(type);
  header.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

const int16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number) =>
  Buffer.from([value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255]);

/** A connection's bytes in turns: what the client sends, and what the server answers. */
const turns: [client: Buffer, server: Buffer][] = [
  [
    Buffer.alloc(0),
    Buffer.concat([message("R", int32(0)), message("S", "application_name\0hotline\0"), message("Z", "I")]),
  ],
  [
    Buffer.concat([
      message("P", "\0SELECT $1, $2\0", int16(2), int32(23), int32(0)),
      message(
        "B",
        "\0\0",
        int16(2),
        int16(1),
        int16(0),
        int16(2),
        int32(4),
        int32(7),
        int32(3),
        "two",
        int16(0),
      ),
      message("D", "P\0"),
      message("E", "\0", int32(0)),
      message("S"),
    ]),
    Buffer.concat([
      message("1"),
      message("2"),
      message("T", int16(0)),
      message("D", int16(1), int32(1), "x"),
      message("D", int16(1), int32(-1)),
      message("C", "SELECT 2\0"),
      message("Z", "I"),
    ]),
  ],
  [
    message("Q", "ALTER ROLE me PASSWORD 'hush'\0"),
    Buffer.concat([message("E", "SERROR\0VERROR\0C42501\0Mno right\0\0"), message("Z", "I")]),
  ],
];

function recorded(cut: (bytes: Buffer) => Buffer[]) {
  const journal = new Journal(createMask({}), new SandboxClock());
  const log = new SessionLog(
    journal,
    new Map([
      ["user", "me"],
      ["database", "shop"],
    ]),
  );
  for (const [client, server] of turns) {
    for (const piece of cut(client)) lend(piece, (bytes) => log.clientSent(bytes));
    for (const piece of cut(server)) lend(piece, (bytes) => log.serverSent(bytes));
  }
  return journal.entries().map((entry) => {
    const { body, status, response, headers, path } = showEntry(entry);
    return { body, status, response, headers, path };
  });
}

/** Gives bytes away that are others as soon as they have been taken. */
function lend(piece: Buffer, take: (bytes: Buffer) => void): void {
  const bytes = Buffer.from(piece);
  take(bytes);
  bytes.fill(0);
}

test("the records are the same however the bytes are cut, and pieces may be used again by who sent them", () => {
  const whole = recorded((bytes) => [bytes]);
  expect(whole).toMatchObject([
    {
      path: "/shop",
      headers: { application_name: "hotline" },
      body: { statement: "SELECT $1, $2", parameters: ["7", "two"] },
      status: 200,
      response: { body: { command: "SELECT 2", rows: 2 } },
    },
    {
      body: { statement: "ALTER ROLE me PASSWORD '***'" },
      status: 400,
      response: { body: { error: { sqlstate: "42501", message: "no right" } } },
    },
  ]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (lengths) => {
      const cut = (bytes: Buffer) => {
        const pieces: Buffer[] = [];
        for (let at = 0, n = 0; at < bytes.length; n++) {
          const length = lengths[n % lengths.length] ?? 1;
          pieces.push(bytes.subarray(at, at + length));
          at += length;
        }
        return pieces;
      };
      expect(recorded(cut)).toEqual(whole);
    }),
  );
});

test("lengths that lie take no memory and break nothing", async () => {
  const journal = new Journal(createMask({}), new SandboxClock());
  const log = new SessionLog(journal, new Map([["user", "me"]]));
  const before = await heldBytes();
  log.clientSent(Buffer.from("51ffffffff", "hex"));
  for (let n = 0; n < 1_000; n++) log.clientSent(Buffer.alloc(64 * 1024, 120));
  expect((await heldBytes()) - before).toBeLessThan(16 * 1024 * 1024);
  const other = new SessionLog(journal, new Map());
  other.clientSent(message("B", "\0\0", int16(65_535), int16(1)));
  other.clientSent(message("P", "\0SELECT 1\0", int16(65_535)));
  other.clientSent(Buffer.from("5100000000", "hex"));
  other.serverSent(message("E", "S"));
  other.ended();
  expect(journal.entries().length).toBeGreaterThan(0);
});
