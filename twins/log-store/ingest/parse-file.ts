/** Parses a file: checks its bytes, and reads them piece by piece into the rows of a staging file. */
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

/** Interval of progress messages. */
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
    if (problems.total > 0) out.discardRows();
    else await out.flushIfFull();
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

/** `50,000 rows`. */
export function countOf({ rows }: StagingFile): string {
  return `${rows.toLocaleString("en-US")} rows`;
}

/** `curl -d` labels a file as a form and strips its line feeds; `--data-binary` only labels it. */
function hintOf({ contentType }: DatasetSource): string {
  const isCurls = contentType?.startsWith("application/x-www-form-urlencoded") === true;
  return isCurls ? "; curl -d takes the line feeds out of a file: send it with --data-binary" : "";
}

/** @param beginning of the file; a byte order mark is skipped */
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

/** Checks that bytes are UTF-8, and passes them to a reader. */
class Text {
  readonly format: DatasetFormat;
  readonly reader: RowReader;
  readonly #problems: Problems;
  /** Bytes of the byte order mark that are still to be skipped. */
  #mark: number;
  /** The first bytes of an incomplete character. */
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
    this.reader.push(this.#replaceInvalid(whole));
  }

  end(): void {
    this.reader.push(this.#replaceInvalid(this.#incomplete));
    this.reader.end();
  }

  /** Replaces bytes that are not UTF-8, and reports them. */
  #replaceInvalid(bytes: Buffer): Buffer {
    if (this.reader.isLost) return bytes;
    let line = 0;
    return replaceInvalid(bytes, (at) => {
      const place = this.reader.position(bytes, at);
      // One problem per line: in a line of another encoding many bytes are wrong.
      if (place.line !== line) this.#problems.add({ ...place, rule: "the text is not UTF-8 here" });
      line = place.line;
    });
  }
}
