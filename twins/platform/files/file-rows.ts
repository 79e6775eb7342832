/** Files as rows of a table: for lists, and to and from snapshots. */
import { z } from "zod";
import { placedIssues } from "../http/errors.ts";
import type { Problem, Row, TableDescription } from "../world/world.ts";
import { MAX_FILE_BYTES, roomProblem, type StoredFile, sha256Of } from "./file-store.ts";

/** A name that is safe as a path segment everywhere: no separators, no control characters, not only dots. */
export const fileName = z
  .string()
  .min(1, "must not be empty")
  .refine((name) => Buffer.byteLength(name) <= 200, "must have at most 200 bytes")
  .refine((name) => !/[/\\]/.test(name), "must hold no slash or backslash")
  .refine((name) => !/\p{Cc}|\p{Cs}/u.test(name), "must hold no control characters")
  .refine((name) => name !== "." && name !== "..", "must not be . or ..");

/** A media type with its parameters, valid in a header. */
export const mediaType = z
  .string()
  .max(200, "must have at most 200 characters")
  .regex(
    /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+(\s*;[\x20-\x7e]*)?$/,
    "must be a media type such as text/plain",
  );

const fileRow = z.strictObject({
  name: fileName,
  type: mediaType,
  size: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits"),
  created_at: z.iso.datetime(),
  content: z.base64("must be base64"),
});

/** A file's row in a list, without its content. */
export function listedRow(file: StoredFile): Row {
  const { name, type, size, sha256, createdAt } = file;
  return { name, type, size, sha256, created_at: createdAt };
}

/** A file's row in a snapshot, with its content. */
export function wholeRow(file: StoredFile): Row {
  return { ...listedRow(file), content: file.bytes.toString("base64") };
}

/** Reads a snapshot's rows as files, adding all problems to `problems`. */
export function readFileRows(table: string, rows: readonly unknown[], problems: Problem[]): StoredFile[] {
  const files: StoredFile[] = [];
  const names = new Set<string>();
  for (const [position, given] of rows.entries()) {
    const reading = fileRow.safeParse(given);
    if (!reading.success) {
      for (const { path, rule } of placedIssues(reading.error)) {
        const column = path[0] === undefined ? {} : { column: String(path[0]) };
        problems.push({ table, row: position, ...column, rule });
      }
      continue;
    }
    const { content, created_at: createdAt, ...rest } = reading.data;
    const file = { ...rest, createdAt, bytes: Buffer.from(content, "base64") };
    problems.push(...contradictions(table, position, file, names));
    names.add(file.name);
    files.push(file);
  }
  const room = roomProblem(
    [],
    files.length,
    files.reduce((bytes, { size }) => bytes + size, 0),
  );
  if (room !== undefined) problems.push({ table, rule: room });
  return files;
}

function contradictions(table: string, row: number, file: StoredFile, names: ReadonlySet<string>): Problem[] {
  const problems: Problem[] = [];
  const refuse = (column: keyof StoredFile, rule: string) =>
    problems.push({ table, row, column, value: file[column], rule });
  if (names.has(file.name)) refuse("name", "an earlier row has the same key");
  if (file.size !== file.bytes.length) refuse("size", `is not that of the content, ${file.bytes.length}`);
  if (file.sha256 !== sha256Of(file.bytes)) refuse("sha256", "is not that of the content");
  if (file.size > MAX_FILE_BYTES) refuse("size", `may be at most ${MAX_FILE_BYTES}`);
  return problems;
}

export function filesTable(name: string): TableDescription {
  const required = { required: true };
  return {
    name,
    description:
      "Files given to this twin by POST /sim/files. Rows are removed here, but added and read through /sim/files.",
    key: "name",
    columns: [
      { name: "name", type: "text", ...required, description: "Its name, by which it is fetched back." },
      { name: "type", type: "text", ...required, description: "Its media type, as its sender named it." },
      { name: "size", type: "integer", ...required, description: "How many bytes it has." },
      { name: "sha256", type: "text", ...required, description: "SHA-256 of its bytes, in hexadecimal." },
      { name: "created_at", type: "timestamp", ...required, description: "When it was uploaded." },
    ],
  };
}
