/** What becomes of events that are sent: their text, time, fields and default fields, and that they are found at once. */
import { gzipSync } from "node:zlib";
import splunkLogging from "splunk-logging";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Collector, startCollector, TOKEN } from "../../testing/collector.ts";

let collector: Collector;
let start: unknown;
beforeAll(async () => {
  collector = await startCollector({ time_zone: "Europe/Berlin" });
  start = (await collector.splunk.control("POST", "/snapshot")).body.tables;
});
beforeEach(async () => {
  await collector.splunk.control("POST", "/reset", { data: start });
});
afterAll(() => collector.stop());

async function sent(path: string, body: unknown, headers?: Record<string, string>): Promise<void> {
  const answer = await collector.send(path, body, headers);
  if (answer.status !== 200) throw new Error(answer.text);
}

const rows = async (): Promise<Record<string, unknown>[]> =>
  (await collector.splunk.control("GET", "/data?entity_type=events")).body.rows;

test("rule 72: pairs in a text and members of JSON are fields of their events when they are searched", async () => {
  await sent(
    "",
    '{"event":"user=bob action=\\"log in\\" status=200"}{"event":{"a":{"b":[1,2]},"user":"ada"}}',
  );
  expect(await collector.found('action="log in" | table user status')).toEqual([
    { user: "bob", status: "200" },
  ]);
  expect(await collector.found("a.b{}=2 | table user a.b{}")).toEqual([{ user: "ada", "a.b{}": ["1", "2"] }]);
});

describe("bodies", () => {
  test.each([
    ["one object", '{"event":"a"}', ["a"]],
    ["apart by nothing", '{"event":"a"}{"event":"b"}', ["a", "b"]],
    ["apart by lines and spaces", ' {"event":"a"}\r\n\r\n{"event":"b"}\t', ["a", "b"]],
    ["a list", '[{"event":"a"},{"event":"b"}]', ["a", "b"]],
    ["lists and objects", '[{"event":"a"}][]{"event":"b"}[{"event":"c"}]', ["a", "b", "c"]],
    ["braces and escapes in strings", '{"event":"}{\\"\\u00e9"}{"event":"b"}', ['}{"é', "b"]],
    ["no text", '{"event":0}{"event":{}}{"event":[]}', ["0", "{}", "[]"]],
    ["JSON as it was written", '{"event": {"b" : 1.0,"a":[ 1,2]} }', ['{"b" : 1.0,"a":[ 1,2]}']],
  ])("%s", async (_name, body, texts) => {
    await sent("", body);
    expect(await collector.texts()).toEqual(texts);
    const headers = { authorization: `Splunk ${TOKEN}`, "content-encoding": "gzip" };
    await sent("", gzipSync(body), headers);
    expect(await collector.texts()).toEqual([...texts, ...texts]);
  });
});

describe("time", () => {
  test.each([
    ["1768478400", "2026-01-15T12:00:00.000Z"],
    ["1768478400.25", "2026-01-15T12:00:00.250Z"],
    ['"1768478400.123456789"', "2026-01-15T12:00:00.123456Z"],
    ["1768478400123", "2026-01-15T12:00:00.123Z"],
    ["1768478400123456789", "2026-01-15T12:00:00.123456Z"],
    ["1.7684784e9", "2026-01-15T12:00:00.000Z"],
    ["-1.5", "1969-12-31T23:59:58.500Z"],
  ])("%s is %s", async (time, iso) => {
    await sent("", `{"event":"a","time":${time}}`);
    expect((await rows())[0]?._time).toBe(iso);
  });

  test("of an event that has none is the moment of the sandbox's clock", async () => {
    await collector.splunk.control("PUT", "/clock", { now: "2026-02-01T00:00:00.000Z", frozen: true });
    await sent("", '{"event":"2020-01-01T00:00:00Z is not looked at"}{"event":"b","time":null}');
    await collector.splunk.control("POST", "/reset-world");
    expect((await rows()).map(({ _time }) => _time)).toEqual([
      "2026-02-01T00:00:00.000Z",
      "2026-02-01T00:00:00.000Z",
    ]);
  });

  test("is looked for in the text when asked to be, and in lines of /raw", async () => {
    const text = "2026-01-15 13:00:00,5 started";
    await sent("?auto_extract_timestamp=true", JSON.stringify({ event: text }));
    await sent("/raw", text);
    await sent("/raw", '1.2.3.4 - - [15/Jan/2026:12:00:00.5 +0000] "GET / HTTP/1.1" 200 5');
    await sent("/raw", "1768478400.5 x");
    await sent("/raw?time=1768478400.5", "2020-01-01T00:00:00Z x");
    // Where no zone is told, it is that of the twin.
    for (const { _time } of await rows()) expect(_time).toBe("2026-01-15T12:00:00.500Z");
  });
});

describe("host, source, source type and index", () => {
  test("come from the event, else from the address, else from the token; none goes from one event to the next", async () => {
    await sent(
      "?source=address",
      '{"event":"a","host":"h","source":"s","sourcetype":"t","index":"summary"}{"event":"b"}',
    );
    expect(await rows()).toMatchObject([
      { _index: "summary", host: "h", source: "s", sourcetype: "t" },
      { _index: "main", host: "splunk:8088", source: "address", sourcetype: "httpevent" },
    ]);
    await sent("", '{"event":"c"}');
    expect((await rows())[2]).toMatchObject({ source: "http:splunk_hec_token" });
  });
});

describe("fields", () => {
  const fieldsOf = async (body: string) => {
    await sent("", body);
    const given = [
      "_id",
      "_index",
      "_version",
      "_seq_no",
      "_time",
      "_indextime",
      "_raw",
      "host",
      "source",
      "sourcetype",
    ];
    const row = Object.entries((await rows()).at(-1) ?? {});
    return Object.fromEntries(row.filter(([name]) => !given.includes(name)));
  };

  test("are those that the sender names, with lists as several values", async () => {
    const fields = { a: "x", n: 1.5, ok: true, list: ["p", 2] };
    expect(await fieldsOf(JSON.stringify({ event: "y", fields }))).toEqual({
      a: "x",
      n: "1.5",
      ok: "true",
      list: ["p", "2"],
    });
  });

  test("are the key=value pairs of a text", async () => {
    const text = `level=error user="ann lee" path='/a b' url=/x?y=1, http.status-code=503 n=5; empty= ="x" 5=6 user=bob "q"=z`;
    expect(await fieldsOf(JSON.stringify({ event: text }))).toEqual({
      level: "error",
      user: "ann lee",
      path: "/a b",
      url: "/x?y=1",
      http_status_code: "503",
      n: "5",
    });
  });

  test("are the members of an object, and of a text that is one: by dotted names, with their digits", async () => {
    const event =
      '{"a":{"b":1.0,"big":12345678901234567890},"l":[{"c":"x"},{"c":"y"}],"none":null,"ok":false}';
    const fields = { "a.b": "1.0", "a.big": "12345678901234567890", "l.c": ["x", "y"], ok: "false" };
    expect(await fieldsOf(`{"event":${event}}`)).toEqual(fields);
    expect(await fieldsOf(JSON.stringify({ event }))).toEqual(fields);
    expect(await fieldsOf(JSON.stringify({ event: `${event} k=v` }))).toEqual({ k: "v" });
  });

  test("may have values of any kind, and a name may hold values and objects: no event is lost", async () => {
    const host = JSON.stringify({ event: { host: { name: "h" }, n: 5, t: "2026-01-15T12:00:00Z" } });
    await sent(
      "",
      `${host}{"event":{"n":"five","t":"later","n.x":1}}{"event":{"_id":"x","_source":"y","":"z"}}`,
    );
    expect(await rows()).toMatchObject([
      { host: "splunk:8088", "host.name": "h", n: "5", t: "2026-01-15T12:00:00Z" },
      { n: "five", t: "later", "n.x": "1" },
      { _raw: '{"_id":"x","_source":"y","":"z"}' },
    ]);
    const before = (await collector.splunk.control("POST", "/snapshot")).body.tables;
    expect((await collector.splunk.control("POST", "/reset", { data: before })).status).toBe(200);
    expect((await collector.splunk.control("POST", "/snapshot")).body.tables).toEqual(before);
  });

  test("that a dataset has as numbers are found whatever they hold, and the time is under splunkd's name", async () => {
    await collector.splunk.add({ "@timestamp": "2026-01-15T11:00:00Z", bytes: 5 });
    await sent(
      "",
      '{"time":1768478400,"event":"bytes=7"}{"time":1768478401,"event":"bytes=many"}{"time":1768478402,"event":"bytes=7.5"}',
    );
    expect(await rows()).toMatchObject([
      { bytes: 5 },
      { _time: "2026-01-15T12:00:00.000Z", bytes: "7" },
      { _time: "2026-01-15T12:00:01.000Z", bytes: "many" },
      { bytes: "7.5" },
    ]);
    for (const value of ["5", "7", "many", "7.5"]) {
      expect(await collector.found(`bytes=${value} | table bytes`)).toEqual([{ bytes: value }]);
    }
  });
});

describe("lines of /raw", () => {
  test("without a time belong to the line before; those with one begin an event", async () => {
    await sent("/raw", "one\r\n  two\nthree\n");
    await sent("/raw", "2026-01-15T12:00:00Z a=1\n  at x\n2026-01-15T12:00:01Z b=2\n");
    expect(await collector.texts()).toEqual([
      "one\n  two\nthree",
      "2026-01-15T12:00:00Z a=1\n  at x",
      "2026-01-15T12:00:01Z b=2",
    ]);
  });

  test("of the source type _json are an event each", async () => {
    await sent("/raw?sourcetype=_json&host=h", '{"a":1}\n{"a":2}\n');
    expect(await rows()).toMatchObject([
      { _raw: '{"a":1}', a: "1", host: "h", sourcetype: "_json" },
      { _raw: '{"a":2}', a: "2" },
    ]);
  });
});

test("an event is found by searches as soon as the request is answered, whoever else writes", async () => {
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let batch = 0; batch < 5; batch++) {
      const events = Array.from({ length: 20 }, (_, n) => ({
        event: `writer=${writer} batch=${batch} n=${n}`,
      }));
      await sent("", events.map((event) => JSON.stringify(event)).join(""));
      const found = await collector.found(`writer=${writer} batch=${batch} | stats count`);
      expect(found).toEqual([{ count: "20" }]);
    }
  });
  await Promise.all(writers);
  expect(await collector.found("index=main | stats count")).toEqual([{ count: "800" }]);
});

describe("the vendor's client from npm", () => {
  const send = (config: object, ...messages: { message: unknown; metadata?: object }[]) =>
    new Promise<{ body: { text: string; code: number }; errors: string[] }>((resolve, reject) => {
      const errors: string[] = [];
      const logger = new splunkLogging.Logger({
        url: collector.splunk.url,
        token: TOKEN,
        maxBatchCount: 0,
        ...config,
      });
      logger.error = ({ message, code }) => errors.push(`${code} ${message}`);
      for (const message of messages) logger.send(message);
      logger.flush((error, _response, body) => (error ? reject(error) : resolve({ body, errors })));
    });

  test("sends a batch of texts and objects with their metadata", async () => {
    const metadata = {
      time: 1768478400,
      host: "farm",
      source: "coop",
      sourcetype: "chickens",
      index: "main",
    };
    const { body, errors } = await send(
      {},
      { message: { temperature: "70F", count: 500 }, metadata },
      { message: "plain" },
    );
    expect(body).toEqual({ text: "Success", code: 0 });
    expect(errors).toEqual([]);
    expect(await collector.found("sourcetype=chickens | table host source message.count severity")).toEqual([
      { host: "farm", source: "coop", "message.count": "500", severity: "info" },
    ]);
    expect(await collector.found("plain | table message")).toEqual([{ message: "plain" }]);
  });

  test("is told of a token that is unknown, and of an index that is not there", async () => {
    const unknown = await send({ token: "none" }, { message: "x" });
    expect(unknown).toEqual({ body: { text: "Invalid token", code: 4 }, errors: ["4 Invalid token"] });
    const elsewhere = await send({}, { message: "x", metadata: { index: "nowhere" } });
    expect(elsewhere.errors).toEqual(["7 Incorrect index"]);
    expect(elsewhere.body).toMatchObject({ code: 7, "invalid-event-number": 1 });
  });
});
