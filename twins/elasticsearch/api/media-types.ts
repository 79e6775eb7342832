/**
 * Content negotiation: the form of a request and of its answer.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/rest-api-compatibility.html,
 * https://www.elastic.co/guide/en/elasticsearch/reference/8.15/api-conventions.html#api-content-type
 */
import type { IncomingHttpHeaders } from "node:http";
import type { VendorRequest } from "@offhook/platform/http/operation";
import { type ErrorCause, VendorError } from "../vendor/error.ts";

type Form = "json" | "yaml";

export interface AnswerForm {
  form: Form;
  contentType: string;
}

interface MediaType {
  /** `json`, `x-ndjson`, `yaml`, …; `undefined` for a type the vendor does not know. */
  form: string | undefined;
  /** The `compatible-with` parameter. */
  version: number | undefined;
}

const CURRENT = 8;
const PREVIOUS = 7;
const known = new Set(["json", "x-ndjson", "yaml", "cbor", "smile"]);
const readable = new Set(["json", "x-ndjson"]);

/**
 * Chooses the form of the answer. @throws VendorError 400 for incompatible versions, PlainRefusal 406 for unsupported
 * forms
 */
export function negotiate(request: VendorRequest): AnswerForm {
  const accept = readHeader(request.headers, "accept");
  const content = request.body.length > 0 ? readHeader(request.headers, "content-type") : undefined;
  checkVersions(request, accept, content);
  if (request.body.length > 0 && (content?.form === undefined || !readable.has(content.form))) {
    throw notAcceptableError(request.headers["content-type"]);
  }
  const asked = request.query.get("format");
  if (asked === "yaml") return { form: "yaml", contentType: "application/yaml" };
  if (asked === "cbor" || asked === "smile") throw unsupportedForm(asked);
  if (asked === "json") return json(undefined);
  if (accept?.form === "yaml") return { form: "yaml", contentType: contentTypeOf("yaml", accept.version) };
  if (accept?.form === "cbor" || accept?.form === "smile") throw unsupportedForm(accept.form);
  if (accept?.form === "json" || accept?.form === "x-ndjson") return json(accept.version);
  return json(content?.version);
}

function json(version: number | undefined): AnswerForm {
  return { form: "json", contentType: contentTypeOf("json", version) };
}

function contentTypeOf(form: Form, version: number | undefined): string {
  return version === undefined
    ? `application/${form}`
    : `application/vnd.elasticsearch+${form};compatible-with=${version}`;
}

/** The media type of a header; `undefined` when the header is absent or allows any. */
function readHeader(headers: IncomingHttpHeaders, name: "accept" | "content-type"): MediaType | undefined {
  const header = headers[name]?.trim();
  if (header === undefined || header === "*/*" || header.includes(",")) return undefined;
  const [type = "", ...parameters] = header.toLowerCase().split(";");
  const [, vendor, form = ""] =
    /^(?:application|text)\/(vnd\.elasticsearch\+)?([\w.+-]+)$/.exec(type.trim()) ?? [];
  const compatible = parameters
    .map((parameter) => /^\s*compatible-with\s*=\s*(\d+)\s*$/.exec(parameter)?.[1])
    .find((found) => found !== undefined);
  return {
    form: known.has(form) ? form : undefined,
    version: vendor === undefined ? undefined : Number(compatible ?? CURRENT),
  };
}

function checkVersions(
  { headers }: VendorRequest,
  accept: MediaType | undefined,
  content: MediaType | undefined,
): void {
  const named = { accept: accept?.version, content: content?.version };
  for (const [what, version, header] of [
    ["Accept", named.accept, headers.accept],
    ["Content-Type", named.content, headers["content-type"]],
  ] as const) {
    if (version === undefined || version === CURRENT || version === PREVIOUS) continue;
    throw headerError(
      named.accept !== undefined && named.content !== undefined ? "Content-Type, Accept" : what,
      `${what} version must be either version ${CURRENT} or ${PREVIOUS}, but found ${version}. ${what}=${header}`,
    );
  }
  const previous = named.accept === PREVIOUS || named.content === PREVIOUS;
  if (previous && content !== undefined && named.accept !== named.content) {
    throw headerError(
      "Content-Type, Accept",
      `A compatible version is required on both Content-Type and Accept headers if either one has requested a compatible version and the compatible versions must match. Accept=${headers.accept ?? null}, Content-Type=${headers["content-type"]}`,
    );
  }
}

function headerError(which: string, reason: string): VendorError {
  const type = "media_type_header_exception";
  const cause: ErrorCause = { type: "status_exception", reason };
  return new VendorError(400, {
    type,
    reason: `Invalid media-type value on headers [${which}]`,
    caused_by: cause,
  });
}

/** An error in one sentence instead of an object: `{"error": "…", "status": 406}`. */
export class PlainRefusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = "PlainRefusal";
    this.status = status;
  }
}

function notAcceptableError(header: string | undefined): PlainRefusal {
  const what =
    header === undefined
      ? "Content-Type header is missing"
      : `Content-Type header [${header}] is not supported`;
  return new PlainRefusal(406, what);
}

function unsupportedForm(form: string): PlainRefusal {
  return new PlainRefusal(406, `This twin does not answer in ${form}; ask for json or yaml`);
}
