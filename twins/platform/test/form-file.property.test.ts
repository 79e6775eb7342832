import fc from "fast-check";
import { expect, test } from "vitest";
import { readFormFile } from "../datasets/form-file.ts";
import { DatasetRefusal, type DatasetSource } from "../twin/dataset.ts";

const boundary = "--boundary";
const head = (disposition: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;

/** Cut where the numbers say, again and again. */
async function* cut(body: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let from = 0, turn = 0; from < body.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield body.subarray(from, from + size);
    from += size;
  }
}

const formOf = (body: Buffer, sizes: readonly number[]): DatasetSource => ({
  bytes: cut(body, sizes),
  contentType: `multipart/form-data; boundary=${boundary}`,
});

async function bytesOf({ bytes }: DatasetSource): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** What a file may hold that looks like the end of it. */
const file = fc
  .array(fc.oneof(fc.constantFrom("\r\n", "--", "\r\n--", boundary, `\r\n--bound`, "a,b\n"), fc.string()), {
    maxLength: 8,
  })
  .map((parts) => parts.join(""))
  .filter((text) => !`\r\n${text}`.includes(`\r\n--${boundary}`));
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

test("the file of a form is its part's bytes, wherever the body is cut", async () => {
  await fc.assert(
    fc.asyncProperty(file, sizes, fc.boolean(), async (text, cuts, hasPreamble) => {
      const before = hasPreamble ? "a preamble\r\n" : "";
      const body = `${before}${head('name="format"')}csv\r\n${head('name="file"; filename="a \\"b\\".csv"')}${text}\r\n--${boundary}--\r\n`;
      const read = await readFormFile(formOf(Buffer.from(body), cuts));
      expect(read).toMatchObject({ fileName: 'a "b".csv', format: "csv" });
      expect((await bytesOf(read)).toString()).toBe(text);
    }),
    { numRuns: 300 },
  );
});

test("a form that ends too early is refused, wherever it ends", async () => {
  const body = Buffer.from(`${head('name="file"; filename="a.csv"')}a,b\n1,2\n\r\n--${boundary}--`);
  for (let end = 0; end < body.length; end++) {
    const reading = readFormFile(formOf(body.subarray(0, end), [7])).then(bytesOf);
    await expect(reading, String(end)).rejects.toThrow(DatasetRefusal);
  }
});

test("a form with two files is refused, and so is a head without an end", async () => {
  const one = `${head('name="file"; filename="a.csv"')}a\n1\n\r\n`;
  const two = Buffer.from(`${one}${one}--${boundary}--`);
  await expect(readFormFile(formOf(two, [100])).then(bytesOf)).rejects.toThrow("alone");
  const endless = Buffer.from(`--${boundary}\r\nx: ${"y".repeat(40_000)}`);
  await expect(readFormFile(formOf(endless, [1000]))).rejects.toThrow("has no end");
});
