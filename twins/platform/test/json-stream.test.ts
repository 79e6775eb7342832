/** JSON that comes in pieces is read as `JSON.parse` reads it whole, and refused where that refuses it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonStream, MalformedJson } from "../world/json-stream.ts";

/** The text's bytes, cut where the numbers say. */
async function* pieces(text: string, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b);
  for (const [index, place] of places.entries()) yield bytes.subarray(places[index - 1] ?? 0, place);
}

/** Reads by entering every object and array that is not deeper than so much. */
async function read(json: JsonStream, depth: number): Promise<unknown> {
  const kind = depth > 0 ? await json.kind() : "scalar";
  if (kind === "object") {
    const entries: [string, unknown][] = [];
    for await (const name of json.members()) entries.push([name, await read(json, depth - 1)]);
    return Object.fromEntries(entries);
  }
  if (kind !== "array") return json.value();
  const elements: unknown[] = [];
  for await (const _ of json.elements()) elements.push(await read(json, depth - 1));
  return elements;
}

async function readWhole(text: string, cuts: readonly number[], depth: number): Promise<unknown> {
  const json = new JsonStream(pieces(text, cuts));
  const value = await read(json, depth);
  await json.end();
  return value;
}

const cuts = fc.array(fc.nat(), { maxLength: 20 });
const depth = fc.nat(4);

test("values are those of JSON.parse, however the text is cut, spaced and entered", async () => {
  const spacing = fc.constantFrom(undefined, 1, "\t", " \n");
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), spacing, cuts, depth, async (value, space, places, entered) => {
      const text = JSON.stringify(value, undefined, space);
      expect(await readWhole(text, places, entered)).toEqual(JSON.parse(text));
    }),
    { numRuns: 300 },
  );
});

test("a text is refused exactly when JSON.parse refuses it", async () => {
  const mutation = fc.record({
    at: fc.nat(),
    gone: fc.nat(3),
    put: fc.constantFrom("", ",", "]", "}", '"', ":", "x", "1", "[", "{"),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue(),
      mutation,
      cuts,
      depth,
      async (value, { at, gone, put }, places, entered) => {
        const text = JSON.stringify(value);
        const from = at % (text.length + 1);
        const mutated = `${text.slice(0, from)}${put}${text.slice(from + gone)}`;
        let isJson = true;
        try {
          JSON.parse(mutated);
        } catch {
          isJson = false;
        }
        const outcome = await readWhole(mutated, places, entered).then(
          () => true,
          (error: unknown) => {
            expect(error).toBeInstanceOf(MalformedJson);
            return false;
          },
        );
        expect([mutated, outcome]).toEqual([mutated, isJson]);
      },
    ),
    { numRuns: 600 },
  );
});

test("the position at a value and behind it is where its text is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), cuts, async (values, places) => {
      const text = JSON.stringify(values, undefined, 1);
      const bytes = Buffer.from(text);
      const json = new JsonStream(pieces(text, places));
      for await (const _ of json.elements()) {
        await json.kind();
        const start = json.position;
        const value = await json.value();
        expect(JSON.parse(bytes.subarray(start, json.position).toString())).toEqual(value);
      }
    }),
  );
});

test.each(["[".repeat(5000), `{"a":`.repeat(5000), `${"[".repeat(300)}${"]".repeat(300)}`])(
  "what is nested too deep is refused before it is parsed",
  async (text) => {
    await expect(new JsonStream(pieces(text, [])).value()).rejects.toThrow("nested deeper than 200");
  },
);
