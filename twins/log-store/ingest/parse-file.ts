/** Takes a file in: its bytes are checked and read into the rows of a staging file, piece by piece. */
import { DatasetRefusal, type DatasetSource } from "@offhook/platform/twin/dataset";
import { CsvReader } from "./csv-reader.ts";
import { type DatasetFormat, likelyFormat, statedFormat } from "./format.ts";
import { NdjsonReader } from "./ndjson-reader.ts";
import { Problems } from "./problems.ts";
import type { RowReader } from "./row-reader.ts";
import type { StagingFile } from "./staging-file.ts";
import { TextPieces } from "./text-pieces.ts";
import { byteOrderMark, incompleteEnd, otherEncoding, replaceInvalid } from "./utf8.ts";

export interface ParsedFile {
  format: DatasetFormat;
  reader: RowReader;
  /** Of the file as it was sent. */
  sha256: string;
  bytes: number;
}

/** How often it is told how many rows were read. */
const PROGRESS_MS = 2_000;

/** @throws DatasetRefusal with every problem, DatasetTooLarge, the signal's reason, or the source's error */
export async function parseFile(
  source: DatasetSource,
  out: StagingFile,
  signal: AbortSignal | undefined,
): Promise<ParsedFile> {
  const stated = statedFormat(source);
  const problems = new Problems();
  const pieces = new TextPieces(source, signal);
  let text: Text | undefined;
  let toldAt = performance.now();
  for await (const piece of pieces) {
    text ??= beginText(piece, stated, out, problems);
    text.push(piece);
    if (problems.total > 0) out.forget();
    else await out.drain();
    if (performance.now() - toldAt < PROGRESS_MS) continue;
    toldAt = performance.now();
    source.onProgress?.(`${countOf(out)} read`);
  }
  if (!text) throw new DatasetRefusal("the file is empty");
  text.end();
  problems.refuseAny();
  if (out.rows === 0) throw new DatasetRefusal(`the file has no rows${hintOf(source)}`);
  await out.flush();
  return { format: text.format, reader: text.reader, sha256: pieces.sha256(), bytes: pieces.bytes };
}

/** As people read it: `50,000 rows`. */
export function countOf({ rows }: StagingFile): string {
  return `${rows.toLocaleString("en-US")} rows`;
}

/** curl calls what it sends with `-d` a form, and takes the line feeds out of it; with `--data-binary` it does the first alone. */
function hintOf({ contentType }: DatasetSource): string {
  const isCurls = contentType?.startsWith("application/x-www-form-urlencoded") === true;
  return isCurls ? "; curl -d takes the line feeds out of a file: send it with --data-binary" : "";
}

/** @param beginning of the file; a byte order mark is passed over */
function beginText(
  beginning: Buffer,
  stated: DatasetFormat | undefined,
  out: StagingFile,
  problems: Problems,
): Text {
  const encoding = otherEncoding(beginning);
  if (encoding !== undefined) {
    throw new DatasetRefusal(`the file is in ${encoding}; it must be in UTF-8`);
  }
  const mark = byteOrderMark(beginning);
  const format = stated ?? likelyFormat(beginning.subarray(mark));
  const reader = format === "csv" ? new CsvReader(out, problems) : new NdjsonReader(out, problems);
  return new Text(format, reader, problems, mark);
}

/** Bytes that must be UTF-8, on their way to a reader. */
class Text {
  readonly format: DatasetFormat;
  readonly reader: RowReader;
  readonly #problems: Problems;
  /** How much of what comes next is no text. */
  #mark: number;
  /** The beginning of a character that is not complete. */
  #incomplete: Buffer = Buffer.alloc(0);

  constructor(format: DatasetFormat, reader: RowReader, problems: Problems, mark: number) {
    this.format = format;
    this.reader = reader;
    this.#problems = problems;
    this.#mark = mark;
  }

  push(piece: Buffer): void {
    const bytes = this.#incomplete.length === 0 ? piece : Buffer.concat([this.#incomplete, piece]);
    const end = bytes.length - incompleteEnd(bytes);
    this.#incomplete = Buffer.from(bytes.subarray(end));
    const whole = bytes.subarray(this.#mark, end);
    this.#mark = 0;
    this.reader.push(this.#checked(whole));
  }

  end(): void {
    this.reader.push(this.#checked(this.#incomplete));
    this.reader.end();
  }

  /** The bytes, all of them UTF-8: what was not is a problem. */
  #checked(bytes: Buffer): Buffer {
    if (this.reader.lost) return bytes;
    let line = 0;
    return replaceInvalid(bytes, (at) => {
      const place = this.reader.position(bytes, at);
      // One that is wrong is rarely alone: a line in another encoding is one problem.
      if (place.line !== line) this.#problems.add({ ...place, rule: "the text is not UTF-8 here" });
      line = place.line;
    });
  }
}
