/** Who sends a request to a control plane, `/sandboxes` or `/environments`. */
import type { IncomingHttpHeaders } from "node:http";
import type { ApiKeys } from "./api-keys.ts";
import { errorResponse } from "./errors.ts";
import { pageOf, type Sessions } from "./session.ts";

export interface Authenticator {
  /** The organisation that a request proves to be of; `undefined`: none. */
  organisationOf(headers: IncomingHttpHeaders): string | undefined;
}

/**
 * Creates the check of the `X-API-Key` header and of the console's session. A session counts for requests of the console's
 * own pages alone; a request with the header is judged by the header.
 * @param sessions absent: only the header counts
 */
export function createAuthenticator(keys: ApiKeys, sessions?: Sessions): Authenticator {
  return {
    organisationOf(headers) {
      const key = headers["x-api-key"];
      if (key !== undefined) return keys.organisationOf(typeof key === "string" ? key : undefined);
      return pageOf(headers) === "own" ? sessions?.find(headers)?.organisation : undefined;
    },
  };
}

export const unauthorized = errorResponse(
  401,
  "unauthorized",
  "send the sandbox's API key in the X-API-Key header",
);
