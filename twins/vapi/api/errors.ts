/** The vendor's error answers: NestJS' `{message, error, statusCode}`, and the plain text of the proxy in front of it. */

import { STATUS_CODES } from "node:http";
import type { PlatformRefusal, VendorResponse } from "@offhook/platform/http/operation";

const TITLES: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  413: "Payload Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
};

/** An error in the vendor's shape. @param message one sentence, or all the sentences of a refused body */
export function vendorError(status: number, message: string | string[]): VendorResponse {
  return { status, body: { message, error: TITLES[status] ?? "Error", statusCode: status } };
}

/** Thrown by a handler to answer with a vendor error. */
export class VendorFailure extends Error {
  readonly response: VendorResponse;
  constructor(response: VendorResponse) {
    super("vendor error answer");
    this.name = "VendorFailure";
    this.response = response;
  }
}

/** Shorthand for `new VendorFailure(vendorError(…))`. */
export function failure(status: number, message: string | string[]): VendorFailure {
  return new VendorFailure(vendorError(status, message));
}

/** The wording of https://support.vapi.ai/t/28586614. */
export const INVALID_KEY =
  "Invalid Key. Hot tip, you may be using the private key instead of the public key, or vice versa.";

/** Answer of the proxy in front of the vendor to a client without User-Agent: text, not JSON. */
export const NO_USER_AGENT: VendorResponse = {
  status: 403,
  headers: { "content-type": "text/plain; charset=UTF-8" },
  body: "error code: 1010",
};

/** Statuses with which this vendor is known to fail. */
export const FAULT_STATUSES = [400, 401, 403, 404, 409, 429, 500, 502, 503, 504];

/** An injected fault: the request itself was valid. */
function faultOf(status: number): VendorResponse {
  const title = STATUS_CODES[status] ?? "Error";
  if (status === 401) return vendorError(401, INVALID_KEY);
  return { status, body: { message: title, error: title, statusCode: status } };
}

/** A refusal by the platform, in the vendor's shape. */
export function vendorRefusal(refusal: PlatformRefusal): VendorResponse {
  switch (refusal.kind) {
    case "malformed-request":
      return vendorError(400, refusal.message);
    case "unknown-path":
      return vendorError(404, `Cannot ${refusal.method} ${refusal.path}`);
    case "forbidden":
      return vendorError(403, refusal.message);
    case "body-too-large":
      return vendorError(413, "request entity too large");
    case "fault":
      return faultOf(refusal.status);
    case "internal":
      return { status: 500, body: { statusCode: 500, message: "Internal server error" } };
  }
}
