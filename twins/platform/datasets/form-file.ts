/**
 * The file of a `multipart/form-data` body, streamed: a dataset's file is never in memory as a whole.
 * https://www.rfc-editor.org/rfc/rfc7578
 */
import { DatasetRefusal, type DatasetSource } from "../twin/dataset.ts";

/** Maximum size of a part's head, and of the value of a part that is not a file. */
const MAX_PART_BYTES = 16 * 1024;
const HOW = "send one part with a filename (curl -F file=@logs.csv), or the file itself as the body";

/** Whether a media type is that of a form with files. */
export function isForm(contentType: string | undefined): contentType is string {
  return /^\s*multipart\//i.test(contentType ?? "");
}

/**
 * Reads a form up to its file. Parts `format` and `file_name` before it mean the same as in the query.
 * @param source the whole body, with a form's content type
 * @throws DatasetRefusal when there is no file; so does reading its bytes when the form ends too early or has another file
 */
export async function readFormFile(source: DatasetSource): Promise<DatasetSource> {
  const parts = new FormParts(source.bytes, boundaryOf(source.contentType ?? ""));
  const fields = new Map<string, string>();
  for (let part = await parts.next(); part; part = await parts.next()) {
    if (part.fileName !== undefined) {
      return {
        ...source,
        bytes: fileBytes(parts),
        contentType: part.contentType,
        fileName: source.fileName ?? fields.get("file_name") ?? (part.fileName || undefined),
        format: source.format ?? fields.get("format"),
      };
    }
    if (part.name !== "format" && part.name !== "file_name") {
      throw new DatasetRefusal(`the form has a part "${part.name.slice(0, 100)}" that is no file; ${HOW}`);
    }
    fields.set(part.name, await shortText(parts, part.name));
  }
  throw new DatasetRefusal(`the form holds no file; ${HOW}`);
}

async function* fileBytes(parts: FormParts): AsyncGenerator<Buffer> {
  yield* parts.body();
  if (await parts.next()) {
    throw new DatasetRefusal(
      `the form has another part after its file; the file comes last, and alone: ${HOW}`,
    );
  }
}

async function shortText(parts: FormParts, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of parts.body()) {
    bytes += chunk.length;
    if (bytes > MAX_PART_BYTES) throw new DatasetRefusal(`the form's part "${name}" is too long; ${HOW}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function boundaryOf(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw new DatasetRefusal(`the form's content type names no boundary; ${HOW}`);
  return boundary;
}

interface PartHead {
  name: string;
  /** Absent: the part is not a file. */
  fileName: string | undefined;
  contentType: string | undefined;
}

/** A cursor over the parts of a body: `next` reads a part's head, then `body` its bytes. */
class FormParts {
  readonly #chunks: AsyncIterator<Buffer>;
  /** Precedes each part; before the first one, the line break may be missing. */
  readonly #delimiter: Buffer;
  /** Bytes received and not consumed yet. */
  #left: Buffer = Buffer.from("\r\n");
  #begun = false;

  constructor(chunks: AsyncIterable<Buffer>, boundary: string) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** Reads the head of the next part; call it after the bytes of the previous one. `undefined` at the end. @throws DatasetRefusal */
  async next(): Promise<PartHead | undefined> {
    if (!this.#begun) await this.#passPreamble();
    await this.#fill(2);
    if (this.#left.subarray(0, 2).equals(Buffer.from("--"))) return undefined;
    const end = await this.#find("\r\n\r\n");
    const head = this.#left.subarray(0, end).toString("utf8");
    this.#left = this.#left.subarray(end + 4);
    return headOf(head);
  }

  async #passPreamble(): Promise<void> {
    this.#begun = true;
    for await (const _ of this.body()) {
      // The preamble is discarded (RFC 2046, 5.1.1).
    }
  }

  /** The bytes up to the next delimiter, which is skipped. @throws DatasetRefusal when the body ends first */
  async *body(): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#left.indexOf(this.#delimiter);
      if (at >= 0) {
        const last = this.#left.subarray(0, at);
        this.#left = this.#left.subarray(at + this.#delimiter.length);
        if (last.length > 0) yield last;
        return;
      }
      const safe = this.#left.length - this.#delimiter.length;
      if (safe > 0) {
        const piece = this.#left.subarray(0, safe);
        this.#left = this.#left.subarray(safe);
        yield piece;
      }
      await this.#more();
    }
  }

  async #fill(bytes: number): Promise<void> {
    while (this.#left.length < bytes) await this.#more();
  }

  async #find(what: string): Promise<number> {
    for (;;) {
      const at = this.#left.indexOf(what);
      if (at >= 0) return at;
      if (this.#left.length > MAX_PART_BYTES)
        throw new DatasetRefusal(`a part of the form has no end; ${HOW}`);
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#chunks.next();
    if (done) throw new DatasetRefusal(`the form ends before its last part does; ${HOW}`);
    this.#left = Buffer.concat([this.#left, value]);
  }
}

function headOf(head: string): PartHead {
  const headers = new Map(
    head.split("\r\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, Math.max(colon, 0)).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const disposition = headers.get("content-disposition") ?? "";
  const parameter = (name: string) => {
    const [, value] = new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, "i").exec(disposition) ?? [];
    return value?.replace(/\\(.)/g, "$1");
  };
  return {
    name: parameter("name") ?? "",
    fileName: parameter("filename"),
    contentType: headers.get("content-type"),
  };
}
