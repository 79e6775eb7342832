/**
 * The DNS responder, asked by real resolvers and by people with bad intentions, over UDP and TCP.
 * Proves a part of twins/SECURITY.md.
 */
import dgram from "node:dgram";
import { promises as dns } from "node:dns";
import { once } from "node:events";
import net from "node:net";
import { networkInterfaces } from "node:os";
import { type DecodedPacket, decode, encode, streamEncode } from "dns-packet";
import fc from "fast-check";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { decideDns } from "../../names/dns-answer.ts";
import { type DnsResponder, startDnsResponder } from "../../names/dns-responder.ts";
import { messageReader } from "../../names/dns-stream.ts";

const log = pino({ level: "silent" });
const HOST = "127.0.0.1";
const REFUSED = 5;
const FORMAT_ERROR = 1;

const list = {
  knows: (host: string) => host === "api.vendor.test" || host.endsWith(".cloud.test"),
  address: HOST,
};
const world = { knows: (host: string) => host === "elsewhere.test", address: "192.0.2.7" };

let alone: DnsResponder;
let upstream: DnsResponder;
let passing: DnsResponder;
beforeAll(async () => {
  alone = await startDnsResponder({ host: HOST, port: 0, list, log });
  upstream = await startDnsResponder({ host: HOST, port: 0, list: world, log });
  passing = await startDnsResponder({
    host: HOST,
    port: 0,
    list,
    upstream: { host: HOST, port: upstream.port },
    log,
  });
});
afterAll(() => Promise.all([alone, upstream, passing].map((responder) => responder.close())));

function resolverOf({ port }: DnsResponder): dns.Resolver {
  const resolver = new dns.Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([`${HOST}:${port}`]);
  return resolver;
}

function query(name: string, type: "A" | "AAAA" | "TXT" = "A"): Buffer {
  return encode({ type: "query", id: 4711, flags: 0x100, questions: [{ type, name }] });
}

/** A query with these labels, whatever they hold. */
function asked(labels: readonly Uint8Array[], type: number, kind: number): Buffer {
  const numbers = Buffer.alloc(4);
  numbers.writeUInt16BE(type, 0);
  numbers.writeUInt16BE(kind, 2);
  const name = labels.flatMap((label) => [Buffer.from([label.length]), label]);
  return Buffer.concat([query("a.test").subarray(0, 12), ...name, Buffer.from([0]), numbers]);
}

async function askByUdp({ port }: DnsResponder, message: Buffer): Promise<Buffer> {
  const socket = dgram.createSocket("udp4");
  try {
    socket.send(message, port, HOST);
    const [answer] = await once(socket, "message");
    return answer;
  } finally {
    socket.close();
  }
}

async function askByTcp({ port }: DnsResponder, bytes: Buffer): Promise<DecodedPacket> {
  const socket = net.connect(port, HOST);
  try {
    return await new Promise((resolve, reject) => {
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("closed without an answer")));
      socket.on(
        "data",
        messageReader((message) => resolve(decode(message))),
      );
      socket.write(bytes);
    });
  } finally {
    socket.destroy();
  }
}

describe("a name in the list", () => {
  test.each(["api.vendor.test", "API.Vendor.TEST", "a.b.cloud.test"])(
    "%s resolves to the gateway",
    async (name) => {
      expect(await resolverOf(alone).resolve4(name)).toEqual([HOST]);
    },
  );

  test("has no address of the other family, and no record of another type: it exists all the same", async () => {
    await expect(resolverOf(alone).resolve6("api.vendor.test")).rejects.toMatchObject({ code: "ENODATA" });
    await expect(resolverOf(alone).resolveTxt("api.vendor.test")).rejects.toMatchObject({ code: "ENODATA" });
  });

  test("resolves over TCP too, many queries on one connection", async () => {
    const socket = net.connect(alone.port, HOST);
    const answers: DecodedPacket[] = [];
    const all = new Promise<void>((resolve) => {
      socket.on(
        "data",
        messageReader((message) => {
          answers.push(decode(message));
          if (answers.length === 3) resolve();
        }),
      );
    });
    const ask = (name: string) => streamEncode({ type: "query", id: 1, questions: [{ type: "A", name }] });
    const bytes = Buffer.concat([ask("api.vendor.test"), ask("x.cloud.test"), ask("other.test")]);
    // Cut where it hurts: inside the length of the second message.
    const cut = ask("api.vendor.test").length + 1;
    socket.write(bytes.subarray(0, cut), () => socket.write(bytes.subarray(cut)));
    await all;
    socket.destroy();
    expect(answers.map(({ answers }) => answers?.length)).toEqual([1, 1, 0]);
    expect(answers.map(({ flag_aa }) => flag_aa)).toEqual([true, true, false]);
  });
});

describe("a name outside the list", () => {
  test("is refused when nobody else is to be asked", async () => {
    await expect(resolverOf(alone).resolve4("elsewhere.test")).rejects.toMatchObject({ code: "EREFUSED" });
  });

  test("is passed on, over UDP and over TCP, and answered as the other resolver answers", async () => {
    expect(await resolverOf(passing).resolve4("elsewhere.test")).toEqual(["192.0.2.7"]);
    const message = query("elsewhere.test");
    const length = Buffer.from([0, message.length]);
    const answer = await askByTcp(passing, Buffer.concat([length, message]));
    expect(answer).toMatchObject({ id: 4711, answers: [{ type: "A", data: "192.0.2.7" }] });
    await expect(resolverOf(passing).resolve4("nowhere.test")).rejects.toMatchObject({ code: "EREFUSED" });
    expect(await resolverOf(passing).resolve4("api.vendor.test")).toEqual([HOST]);
  });

  test("fails, and is not answered otherwise, when the other resolver is not there", async () => {
    const gone = await startDnsResponder({ host: HOST, port: 0, list: world, log });
    await gone.close();
    const orphan = await startDnsResponder({
      host: HOST,
      port: 0,
      list,
      upstream: { host: HOST, port: gone.port },
      log,
    });
    await expect(resolverOf(orphan).resolve4("elsewhere.test")).rejects.toMatchObject({ code: "ESERVFAIL" });
    await orphan.close();
  });

  test("of another class is refused even if the name is in the list", () => {
    const message = encode({
      type: "query",
      id: 1,
      questions: [{ type: "A", class: "CH", name: "api.vendor.test" }],
    });
    expect(decideDns(message, list).kind).toBe("outside");
  });
});

describe("what is no proper query", () => {
  test("two questions, a packet cut short and one too large are format errors", async () => {
    const question = { type: "A", name: "api.vendor.test" } as const;
    const two = encode({ type: "query", id: 1, questions: [question, question] });
    const many = Buffer.concat([query("api.vendor.test"), Buffer.alloc(5000)]);
    const counted = query("api.vendor.test");
    counted.writeUInt16BE(0xffff, 4);
    for (const message of [two, many, counted, query("api.vendor.test").subarray(0, 20)]) {
      const answer = await askByUdp(alone, message);
      expect(answer.readUInt16BE(0)).toBe(message.readUInt16BE(0));
      expect(answer.readUInt16BE(2) & 0xf).toBe(FORMAT_ERROR);
    }
  });

  test("answers, and what is too short for a header, are not answered, so no two responders talk for ever", () => {
    const answer = encode({ type: "response", id: 1, questions: [{ type: "A", name: "api.vendor.test" }] });
    expect(decideDns(answer, list)).toEqual({ kind: "ignore" });
    expect(decideDns(Buffer.alloc(11), list)).toEqual({ kind: "ignore" });
  });

  test("names that point to themselves, and any bytes whatever, are read without harm", () => {
    const loop = Buffer.concat([query("a.test").subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]);
    expect(decideDns(loop, list)).toMatchObject({ kind: "answer" });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.boolean(), (bytes, proper) => {
        const head = proper ? query("a.test").subarray(0, 12) : Buffer.alloc(0);
        const decision = decideDns(Buffer.concat([head, bytes]), list);
        if (decision.kind === "answer") expect(decode(decision.message).type).toBe("response");
      }),
      { numRuns: 500 },
    );
  });

  test("whatever is asked goes back byte for byte, and a label with a dot in it is no listed name", () => {
    const label = fc.uint8Array({ minLength: 1, maxLength: 60 });
    const number = fc.oneof(fc.constantFrom(1, 28, 65, 255), fc.nat(0xffff));
    fc.assert(
      fc.property(fc.array(label, { maxLength: 4 }), number, number, (labels, type, kind) => {
        const decision = decideDns(asked(labels, type, kind), list);
        const message = decision.kind === "outside" ? decision.refusal : Buffer.alloc(0);
        expect(message.subarray(12)).toEqual(asked(labels, type, kind).subarray(12));
      }),
    );
    const listed = (labels: string[]) =>
      decideDns(
        asked(
          labels.map((text) => Buffer.from(text)),
          1,
          1,
        ),
        list,
      ).kind;
    expect(listed(["api", "vendor", "test"])).toBe("answer");
    expect(listed(["api.vendor", "test"])).toBe("outside");
  });

  test("over TCP a message that is too large ends the connection, and the responder goes on", async () => {
    await expect(
      askByTcp(alone, Buffer.concat([Buffer.from([0xff, 0xff]), Buffer.alloc(0xffff)])),
    ).rejects.toThrow();
    expect(await resolverOf(alone).resolve4("api.vendor.test")).toEqual([HOST]);
  });

  test("a query with EDNS is answered with EDNS", async () => {
    const message = encode({
      type: "query",
      id: 9,
      questions: [{ type: "A", name: "other.test" }],
      additionals: [
        {
          type: "OPT",
          name: ".",
          udpPayloadSize: 4096,
          flags: 0,
          options: [],
          extendedRcode: 0,
          ednsVersion: 0,
          flag_do: false,
        },
      ],
    });
    const answer = await askByUdp(alone, message);
    expect(answer.readUInt16BE(2) & 0xf).toBe(REFUSED);
    expect(decode(answer).additionals).toMatchObject([{ type: "OPT" }]);
  });
});

test("the port is given back when it stops, also with connections open; a port in use is an error that says what to do", async () => {
  const first = await startDnsResponder({ host: HOST, port: 0, list, log });
  const idle = net.connect(first.port, HOST);
  await once(idle, "connect");
  const again = () => startDnsResponder({ host: HOST, port: first.port, list, log });
  await expect(again()).rejects.toThrow(/in use.*TWINS_DNS_PORT/);
  await first.close();
  await (await again()).close();
});

const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === "IPv4" && !address.internal)?.address;

test.skipIf(ownAddress === undefined)(
  "bound to all addresses it passes on the queries of this machine alone, unless told otherwise",
  async () => {
    const forward = { host: "0.0.0.0", port: 0, list, upstream: { host: HOST, port: upstream.port }, log };
    const narrow = await startDnsResponder(forward);
    const wide = await startDnsResponder({ ...forward, forwardFor: "all" });
    const ask = ({ port }: DnsResponder, address: string, name: string) => {
      const resolver = new dns.Resolver({ timeout: 2000, tries: 1 });
      resolver.setServers([`${address}:${port}`]);
      return resolver.resolve4(name);
    };
    // Who asks for another address of this machine comes from that one.
    const other = ownAddress ?? "";
    await expect(ask(narrow, other, "elsewhere.test")).rejects.toMatchObject({ code: "EREFUSED" });
    expect(await ask(narrow, other, "api.vendor.test")).toEqual([HOST]);
    expect(await ask(narrow, HOST, "elsewhere.test")).toEqual(["192.0.2.7"]);
    expect(await ask(wide, other, "elsewhere.test")).toEqual(["192.0.2.7"]);
    await Promise.all([narrow.close(), wide.close()]);
  },
);
