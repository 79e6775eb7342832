/** Bytes that no client library sends: broken HTTP, upgrades, packets that are not Postgres'. */
import net from "node:net";
import fc from "fast-check";
import type { Verdict } from "./rules.ts";
import { hostileString, words } from "./text.ts";

/** A connection: what is written to it, and how it is left. */
export interface WireTalk {
  bytes: Buffer;
  /** `end` waits for the other side, `leave` cuts the connection after the first answer or a moment. */
  leave: "end" | "reset";
}

/** The other side has so long to answer or to close. */
const PATIENCE_MS = 5_000;
/** A connection that is left is left after so long. */
const MOMENT_MS = 20;

const head = fc
  .record({
    line: fc.oneof(
      words("GET POST PUT HEAD DELETE PATCH OPTIONS TRACE CONNECT get G\u0000T").chain((method) =>
        fc
          .oneof(
            words(
              "/ /nope /voice /tool /s/dev/elasticsearch/_search /s/dev/vapi/x/transport /c/dev/vapi/sim/health /sandboxes * http://x/ //x/.. /%zz /s/../c",
            ),
            hostileString.map((path) => `/${path}`),
          )
          .map((path) => `${method} ${path} HTTP/1.1`),
      ),
      words("GET / HTTP/9.9").map(() => "GET / HTTP/9.9"),
      hostileString,
    ),
    headers: fc.array(
      fc.oneof(
        fc.constantFrom(
          "Host: 127.0.0.1",
          "Host: evil.example",
          "Origin: https://evil.example",
          "Connection: Upgrade",
          "Connection: Upgrade, HTTP2-Settings",
          "Upgrade: websocket",
          "Upgrade: h2c",
          "Upgrade: nope",
          "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
          "Sec-WebSocket-Version: 13",
          "Sec-WebSocket-Version: 99",
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
          "Sec-WebSocket-Key: x",
          "Content-Length: 10",
          "Content-Length: -1",
          "Content-Length: 99999999999999999999",
          "Transfer-Encoding: chunked",
          "Transfer-Encoding: gzip, chunked",
          "Content-Encoding: gzip",
          "Content-Encoding: br",
          "Expect: 100-continue",
          "Content-Type: application/json; charset=utf-16",
        ),
        fc.tuple(hostileString, hostileString).map(([name, value]) => `${name}: ${value}`),
      ),
      { maxLength: 6 },
    ),
    body: fc.oneof(
      fc.constant(""),
      hostileString,
      fc.constant("5\r\nhello\r\nzz\r\n"),
      fc.constant("\x81\x85....x"),
    ),
  })
  .map(({ line, headers, body }) => Buffer.from([line, ...headers, "", body].join("\r\n"), "latin1"));

export const httpTalk: fc.Arbitrary<WireTalk> = fc.record({
  bytes: fc.oneof(
    { weight: 6, arbitrary: head },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  ),
  leave: fc.constantFrom("end" as const, "reset" as const),
});

const packet = fc
  .record({
    type: words("Q P B E D C S X p F f d c H ! \u0000"),
    length: fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom(0, 3, 4, -1, 2 ** 31 - 1) },
    ),
    body: fc.oneof(
      hostileString.map((value) => Buffer.from(`${value}\0`)),
      fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
    ),
  })
  .map(({ type, length, body }) => {
    const size = Buffer.alloc(4);
    size.writeInt32BE(length ?? body.length + 4);
    return Buffer.concat([Buffer.from(type, "latin1"), size, body]);
  });
const startUp = fc
  .record({
    version: fc.constantFrom(196_608, 80_877_103, 80_877_102, 80_877_104, 131_072, 0, -1),
    parameters: fc.array(fc.oneof(words("user database postgres client_encoding options"), hostileString), {
      maxLength: 6,
    }),
    cut: fc.nat({ max: 40 }),
  })
  .map(({ version, parameters, cut }) => {
    const body = Buffer.from(`${parameters.map((one) => `${one}\0`).join("")}\0`);
    const start = Buffer.alloc(8);
    start.writeInt32BE(body.length + 8 + (cut > 35 ? cut : 0));
    start.writeInt32BE(version, 4);
    return Buffer.concat([start, body]);
  });

export const postgresTalk: fc.Arbitrary<WireTalk> = fc.record({
  bytes: fc
    .tuple(
      fc.oneof({ weight: 4, arbitrary: startUp }, { weight: 1, arbitrary: packet }),
      fc.array(packet, { maxLength: 3 }),
    )
    .map(([first, rest]) => Buffer.concat([first, ...rest])),
  leave: fc.constantFrom("end" as const, "reset" as const),
});

/** Has one connection. @returns what is wrong with how it went */
export function talk(host: string, port: number, { bytes, leave }: WireTalk): Promise<Verdict> {
  return new Promise((resolve) => {
    let answered = "";
    const socket = net.connect(port, host);
    const done = (verdict: Verdict) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(verdict);
    };
    // A request that is not whole may wait for its rest for longer than anybody wants to wait here.
    const timer = setTimeout(() => done(undefined), leave === "end" ? PATIENCE_MS : MOMENT_MS);
    socket.on("connect", () => (leave === "end" ? socket.end(bytes) : socket.write(bytes)));
    socket.on("data", (chunk) => {
      answered += chunk.toString("latin1");
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(answered) ?? [];
      const said = Number(status ?? 0);
      if (said >= 500 && said !== 501 && said !== 505) done(`status ${said} to broken bytes`);
      else if (leave === "reset") done(undefined);
    });
    socket.on("close", () => done(undefined));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      done(error.code === "ECONNREFUSED" ? "nobody listens any more" : undefined);
    });
  });
}
