/** `/sim/files`: bytes with a name and a type, kept for whoever drives the twin. */
import { Readable } from "node:stream";
import { z } from "zod";
import { errorResponse, readQueryAs } from "../errors.ts";
import { fileName, listedRow, mediaType } from "../files/file-rows.ts";
import { MAX_FILE_BYTES, type StoredFile } from "../files/file-store.ts";
import { type Operation, operation, type VendorResponse } from "../operation.ts";
import { pageParameters } from "./paging.ts";
import type { ControlTarget } from "./target.ts";

const uploadQuery = z.strictObject({ name: fileName });
const listQuery = z.strictObject(pageParameters);
const PIECE_BYTES = 64 * 1024;

export const fileOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "files.add",
    method: "POST",
    path: "/sim/files",
    surface: "rest",
    summary: "Keeps the bytes of the body under ?name=, with the body's content type.",
    maxBodyBytes: MAX_FILE_BYTES,
    handle(request, { twin }) {
      const query = readQueryAs(request, uploadQuery);
      if (!query.ok) return query.response;
      const type = mediaType.safeParse(request.headers["content-type"] ?? "application/octet-stream");
      if (!type.success) return wrongType("the content-type header must be a media type such as text/plain");
      if (type.data.toLowerCase().startsWith("multipart/")) {
        return wrongType("send the bytes as the body itself, with ?name= and their own content-type");
      }
      const storing = twin.files.add(query.value.name, type.data, request.body);
      if (storing.kind === "exists") {
        return errorResponse(409, "conflict", `there is a file ${query.value.name} already; delete it first`);
      }
      if (storing.kind === "full") return errorResponse(413, "files_full", storing.rule);
      twin.world.added(storing.file);
      return { status: 201, body: { ...listedRow(storing.file), state_version: twin.world.stateVersion } };
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

function wrongType(message: string): VendorResponse {
  return errorResponse(415, "unsupported_media_type", message);
}

function noSuchFile(name: string | undefined): VendorResponse {
  return errorResponse(404, "not_found", `there is no file ${name}`);
}

/** Nothing in a file is ever run by who looks at it. */
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
