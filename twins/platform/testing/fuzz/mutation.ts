/** Small changes that make a good request a bad one: of JSON member by member, of bytes, of queries. */
import fc from "fast-check";
import { hostileString, hostileValue, prototypeName } from "./text.ts";

/** Which of an object's places is changed is told by a number that is taken modulo how many there are. */
type Change = { at: number } & (
  | { kind: "replace"; value: unknown }
  | { kind: "remove" }
  | { kind: "rename"; name: string }
  | { kind: "wrap" }
  | { kind: "repeat" }
);

const at = fc.nat({ max: 10_000 });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant("replace" as const), at, value: hostileValue }),
  fc.record({ kind: fc.constant("remove" as const), at }),
  fc.record({ kind: fc.constant("rename" as const), at, name: fc.oneof(prototypeName, hostileString) }),
  fc.record({ kind: fc.constant("wrap" as const), at }),
  fc.record({ kind: fc.constant("repeat" as const), at }),
);

/** JSON as it is, or with up to three changes. */
export function mutate(json: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const changes = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Change[]>([]) },
    { weight: 2, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }) },
  );
  return fc.tuple(json, changes).map(([value, list]) => list.reduce<unknown>(applyChange, value));
}

function applyChange(json: unknown, made: Change): unknown {
  const count = countPlaces(json);
  let left = made.at % count;
  return walk(json);

  /** Rebuilds the value; the place is reached when `left` is down to nothing. */
  function walk(value: unknown): unknown {
    if (left-- === 0) return changed(value, made);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    // `Object.fromEntries` defines a member named `__proto__`; an assignment would set the prototype.
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, one]): [string, unknown][] => {
        if (left !== 0) return [[name, walk(one)]];
        if (made.kind === "remove") {
          left--;
          return [];
        }
        if (made.kind !== "rename") return [[name, walk(one)]];
        left--;
        return [[made.name, one]];
      }),
    );
  }
}

function changed(value: unknown, made: Change): unknown {
  switch (made.kind) {
    case "replace":
      return made.value;
    case "wrap":
      return [value];
    case "repeat":
      return { a: value, b: [value, value] };
    default:
      return value;
  }
}

function countPlaces(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + countPlaces(one), 1);
}

/** JSON as text: mostly well-formed. */
export function jsonText(json: fc.Arbitrary<unknown>): fc.Arbitrary<string | Buffer> {
  const written = mutate(json).map((value) => JSON.stringify(value) ?? "");
  return fc.oneof({ weight: 12, arbitrary: written }, { weight: 1, arbitrary: brokenText(written) });
}

/** Bytes that a reader of text has to refuse, or take. */
export function brokenText(written: fc.Arbitrary<string>): fc.Arbitrary<string | Buffer> {
  return fc.oneof(
    fc.tuple(written, fc.nat({ max: 500 })).map(([whole, length]) => whole.slice(0, length)),
    fc
      .tuple(written, fc.nat({ max: 500 }), fc.uint8Array({ minLength: 1, maxLength: 8 }))
      .map(([whole, place, bytes]) =>
        Buffer.concat([Buffer.from(whole.slice(0, place)), bytes, Buffer.from(whole.slice(place))]),
      ),
    fc.constantFrom("[", '{"a":', "{", '[{"a":').map((open) => open.repeat(5_000)),
    fc.constantFrom(100, 2_000).map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`),
    written.map((whole) => `\ufeff${whole}`),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  );
}

/** Of a parameter; with more in a head, Node itself refuses the request. */
const MAX_NAME_CHARS = 500;
const MAX_VALUE_CHARS = 3_000;

/** A path's query of some of these parameters, and sometimes of others. */
export function queryOf(
  parameters: Record<string, fc.Arbitrary<string>>,
  { max = 3 }: { max?: number } = {},
): fc.Arbitrary<string> {
  const known = Object.entries(parameters).map(([name, value]) =>
    fc
      .oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: hostileString })
      .map((one) => [name, one]),
  );
  const unknown = fc.tuple(fc.oneof(prototypeName, hostileString), hostileString);
  const parameter = fc.oneof(
    { weight: 12, arbitrary: fc.oneof(...known) },
    { weight: 1, arbitrary: unknown },
  );
  return fc.array(parameter, { maxLength: max }).map((pairs) => {
    const query = pairs.map(([name = "", value = ""]) => pair(name, value)).join("&");
    return query === "" ? "" : `?${query}`;
  });
}

function pair(name: string, value: string): string {
  return `${encode(name.slice(0, MAX_NAME_CHARS))}=${encode(value).slice(0, MAX_VALUE_CHARS)}`;
}

/** Percent-encoding; half of a surrogate pair, which cannot be encoded, is replaced. */
export function encode(value: string): string {
  return encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, "\ufffd"));
}
