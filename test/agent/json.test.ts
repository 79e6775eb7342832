import fc from "fast-check";
import { expect, test } from "vitest";
import { toJson, toJsonLine } from "../../agent/json.ts";

class Point {
  x = 1;
  #hidden = 2;
  get sum() {
    return this.x + this.#hidden;
  }
}

test("values JSON has no word for become JSON", () => {
  const error = Object.assign(new TypeError("broken", { cause: new Error("root") }), { code: "E1" });
  expect(
    toJson({
      date: new Date(0),
      noDate: new Date(Number.NaN),
      big: 12345678901234567890n,
      numbers: [Number.NaN, Number.POSITIVE_INFINITY, -0],
      map: new Map([["a", new Map([[1, "one"]])]]),
      set: new Set(["x"]),
      error,
      point: new Point(),
      bytes: Buffer.from("hi"),
      pattern: /a+/,
      url: new URL("http://x/"),
      none: undefined,
      nothing: null,
      list: [undefined, () => {}, Symbol("s")],
      fn: () => {},
      boxed: Object("text"),
    }),
  ).toEqual({
    date: "1970-01-01T00:00:00.000Z",
    noDate: null,
    big: "12345678901234567890",
    numbers: ["NaN", "Infinity", -0],
    map: { a: [[1, "one"]] },
    set: ["x"],
    error: {
      name: "TypeError",
      message: "broken",
      code: "E1",
      cause: { name: "Error", message: "root" },
    },
    point: { x: 1 },
    bytes: "aGk=",
    pattern: "/a+/",
    url: "http://x/",
    nothing: null,
    list: [null, null, null],
    boxed: "text",
  });
});

test("an object inside itself is cut there; the same object beside itself is not", () => {
  const twice = { a: 1 };
  const cycle: Record<string, unknown> = { first: twice, second: twice };
  cycle.self = cycle;
  expect(toJson(cycle)).toEqual({ first: { a: 1 }, second: { a: 1 }, self: "[circular]" });
  const map = new Map<string, unknown>();
  map.set("self", map);
  expect(toJson(map)).toEqual({ self: "[circular]" });
});

test("members that cannot be read, and depth without end, do not throw", () => {
  const awkward = {
    get broken(): never {
      throw new Error("no");
    },
    toString: undefined,
    ok: 1,
  };
  expect(toJson(awkward)).toEqual({ broken: "[unreadable: no]", ok: 1 });
  const refusing = {
    toJSON() {
      throw new Error("never");
    },
  };
  expect(toJson(refusing)).toBe("[unreadable: never]");
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(toJsonLine(deep)).toContain("[too deep]");
});

test("a member named __proto__ stays a member", () => {
  const value: unknown = JSON.parse('{"__proto__":{"polluted":true}}');
  expect(toJsonLine(value)).toBe('{"__proto__":{"polluted":true}}');
});

test("JSON values come through unchanged, on one line", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const line = toJsonLine(value);
      expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(line).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
    }),
  );
});

test("nothing at all makes it throw", () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
      (value) => {
        JSON.parse(toJsonLine(value));
      },
    ),
  );
});
