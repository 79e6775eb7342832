/** Arbitraries that the grammars are written with. */
import fc from "fast-check";

type Text = fc.Arbitrary<string>;

/** A text with holes: ``text`stats ${aggregate} by ${field}` ``. */
export function text(pieces: TemplateStringsArray, ...holes: Text[]): Text {
  return fc.tuple(...holes).map((values) => String.raw({ raw: pieces }, ...values));
}

/** One of some words, which stand in one text with spaces between. */
export function words(list: string): Text {
  return fc.constantFrom(...list.split(" "));
}

/** Some of it, with something between. */
export function list(of: Text, between: string, { min = 1, max = 3 } = {}): Text {
  return fc.array(of, { minLength: min, maxLength: max }).map((items) => items.join(between));
}

/** Mostly nothing. */
export function maybe(of: Text): Text {
  return fc.oneof({ weight: 2, arbitrary: fc.constant("") }, { weight: 1, arbitrary: of });
}

/** Mostly nothing; else one of the words, a space before it. */
export function option(list: string): Text {
  return maybe(words(list).map((word) => ` ${word}`));
}

/** An object with any of these members. */
export function anyOf<T extends object>(members: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) {
  return fc.record(members, { requiredKeys: [] });
}

/** An object with some of these members, at most so many. */
export function someOf(
  members: Record<string, fc.Arbitrary<unknown>>,
  { min = 0, max }: { min?: number; max: number },
): fc.Arbitrary<Record<string, unknown>> {
  return fc
    .subarray(Object.keys(members), { minLength: min, maxLength: Math.min(max, Object.keys(members).length) })
    .chain((names) =>
      fc.record(Object.fromEntries(Object.entries(members).filter(([name]) => names.includes(name)))),
    );
}

/** An object with exactly one member, whose name is arbitrary too. */
export function member(name: Text, value: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  return fc.tuple(name, value).map(([key, one]) => Object.fromEntries([[key, one]]));
}

const PROTOTYPE_NAMES = "__proto__ constructor toString hasOwnProperty valueOf prototype";
/** Names that break what looks members up without care. */
export const prototypeName = words(PROTOTYPE_NAMES);

const hostileNumber = fc.constantFrom(0, -0, -1, 1e308, -1e308, 5e-324, 2 ** 31, 2 ** 53, 1.5, -0.5, 1e21);
export const hostileString = fc.oneof(
  fc.constantFrom("", " ", "null", "NaN", "%", "%00", "\u0000", "\ud800", "'", '"', "`", "\\", "--", ";"),
  fc.constantFrom("../..", "{{x}}", "$1", "é\u0301", "\u202e", "💥", "1e400", "0x10", "-0", "*", "?"),
  prototypeName,
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(1_000, 40_000).map((length) => "x".repeat(length)),
);

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { a: null }),
  hostileNumber,
  hostileString,
  fc.jsonValue({ maxDepth: 3 }),
  member(prototypeName, fc.constantFrom(null, 1, {}, [])),
);
