/** `/sim/files`: named files that a tester gives the twin. */
import { Readable } from "node:stream";
import { z } from "zod";
import { fileName, listedRow, mediaType } from "../files/file-rows.ts";
import { type GivenFile, MAX_FILE_BYTES, type StoredFile } from "../files/file-store.ts";
import { errorResponse, type FieldProblem, fieldProblems, readQueryAs } from "../http/errors.ts";
import { type Operation, operation, type VendorResponse } from "../http/operation.ts";
import { pageParameters } from "./paging.ts";
import type { ControlTarget } from "./target.ts";

const uploadQuery = z.strictObject({ name: fileName.optional() });
/** Allowance for a form's delimiters and headers. */
const FORM_BYTES = 64 * 1024;
const listQuery = z.strictObject(pageParameters);
const PIECE_BYTES = 64 * 1024;

export const fileOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "files.add",
    method: "POST",
    path: "/sim/files",
    surface: "rest",
    summary:
      "Keeps the bytes of the body, or the files of a form, under ?name=, their own names or one that is made.",
    maxBodyBytes: MAX_FILE_BYTES + FORM_BYTES,
    async handle(request, { twin }) {
      const query = readQueryAs(request, uploadQuery);
      if (!query.ok) return query.response;
      const type = mediaType.safeParse(request.headers["content-type"] ?? "application/octet-stream");
      if (!type.success) return wrongType("the content-type header must be a media type such as text/plain");
      const { name } = query.value;
      const isForm = type.data.toLowerCase().startsWith("multipart/");
      const given = isForm
        ? await readForm(request.body, type.data, name)
        : [{ name, type: type.data, bytes: request.body }];
      if (!Array.isArray(given)) return given;
      const storing = twin.files.addAll(given);
      if (storing.kind === "exists") {
        return errorResponse(409, "conflict", `there is a file ${storing.name} already; delete it first`);
      }
      if (storing.kind === "full") return errorResponse(413, "files_full", storing.rule);
      for (const file of storing.files) twin.world.added(file);
      const rows = storing.files.map(listedRow);
      const state_version = twin.world.stateVersion;
      return {
        status: 201,
        body: rows.length === 1 ? { ...rows[0], state_version } : { files: rows, state_version },
      };
    },
  }),
  operation<ControlTarget>({
    id: "files.list",
    method: "GET",
    path: "/sim/files",
    surface: "rest",
    summary: "The files there are, in the order in which they came.",
    handle(request, { twin }) {
      const query = readQueryAs(request, listQuery);
      if (!query.ok) return query.response;
      const { limit, offset } = query.value;
      const files = twin.files
        .all()
        .slice(offset, offset + limit)
        .map(listedRow);
      return { status: 200, body: { files, total: twin.files.size, limit, offset } };
    },
  }),
  operation<ControlTarget>({
    id: "files.get",
    method: "GET",
    path: "/sim/files/:name",
    surface: "rest",
    summary: "The bytes of a file, as they came.",
    handle({ params }, { twin }) {
      const file = twin.files.get(params.name ?? "");
      if (!file) return noSuchFile(params.name);
      return { status: 200, headers: fileHeaders(file), body: Readable.from(pieces(file.bytes)) };
    },
  }),
  operation<ControlTarget>({
    id: "files.remove",
    method: "DELETE",
    path: "/sim/files/:name",
    surface: "rest",
    summary: "Removes a file.",
    async handle({ params }, { twin }) {
      const name = params.name ?? "";
      if (!twin.files.get(name)) return noSuchFile(name);
      twin.world.removeFile(name);
      return { status: 200, body: { removed: 1, state_version: twin.world.stateVersion } };
    },
  }),
];

/** Reads the files of a `multipart/form-data` body. A member `name` names its one file, as `?name=` does. */
async function readForm(
  body: Buffer,
  type: string,
  queryName: string | undefined,
): Promise<GivenFile[] | VendorResponse> {
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  } catch {
    return errorResponse(
      400,
      "malformed_request",
      `the body is not the form that its content-type says; ${FILE_SHAPES}`,
    );
  }
  const files: GivenFile[] = [];
  const problems: FieldProblem[] = [];
  let formName: string | undefined;
  for (const [field, value] of form) {
    if (typeof value === "string") {
      if (field === "name") formName = value;
      else problems.push({ field, rule: "is no file: a file has a filename in its content-disposition" });
    } else {
      const bytes = Buffer.from(await value.arrayBuffer());
      files.push({ name: value.name || undefined, type: value.type || "application/octet-stream", bytes });
    }
  }
  const name = queryName ?? formName;
  const [only] = files;
  if (!only) problems.push({ field: "", rule: "holds no file" });
  else if (name !== undefined) {
    if (files.length > 1) problems.push({ field: "name", rule: "names one file, and there are several" });
    only.name = name;
  }
  for (const file of files) problems.push(...fileProblems(file));
  if (problems.length === 0) return files;
  return errorResponse(422, "invalid", `no file was kept; ${FILE_SHAPES}`, problems);
}

const FILE_SHAPES =
  "send the bytes as the body with ?name= and their content-type, or a form: curl -F file=@notes.txt";

/** Checks names and types from a form like those from query and header. */
function fileProblems({ name, type }: GivenFile): FieldProblem[] {
  const given = z.object({ name: fileName.optional(), type: mediaType }).safeParse({ name, type });
  return given.success ? [] : fieldProblems(given.error);
}

function wrongType(message: string): VendorResponse {
  return errorResponse(415, "unsupported_media_type", message);
}

function noSuchFile(name: string | undefined): VendorResponse {
  return errorResponse(404, "not_found", `there is no file ${name}`);
}

/** Prevents a browser from running a file. */
function fileHeaders(file: StoredFile): Record<string, string> {
  return {
    "content-type": file.type,
    "content-length": String(file.size),
    "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(file.name)}`,
    etag: `"${file.sha256}"`,
    "x-content-type-options": "nosniff",
  };
}

function* pieces(bytes: Buffer): Iterable<Buffer> {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield bytes.subarray(start, start + PIECE_BYTES);
  }
}
