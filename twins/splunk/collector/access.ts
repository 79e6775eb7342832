/** Reads the token and the channel of a request. */
import { readAuthorization } from "@offhook/platform/http/authorization";
import type { VendorRequest } from "@offhook/platform/http/operation";
import type { HecTokenRow } from "../world/collector-tables.ts";
import { sha256 } from "../world/seed.ts";
import { CollectorRefusal } from "./codes.ts";
import type { CollectorTwin } from "./collector-twin.ts";

const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** @throws CollectorRefusal */
export function tokenOf({ headers, query }: VendorRequest, twin: CollectorTwin): HecTokenRow {
  const { authorization } = headers;
  if (authorization !== undefined && authorization.trim() !== "") {
    return findEnabled(twin, tokenInHeader(authorization));
  }
  const inAddress = query.get("token");
  if (inAddress === null || inAddress === "") throw new CollectorRefusal("tokenRequired");
  const row = findEnabled(twin, inAddress);
  if (!row.allow_query_string_auth) throw new CollectorRefusal("queryDisabled");
  return row;
}

/** `Splunk <token>`, or Basic with any name and the token as password. */
function tokenInHeader(authorization: string): string {
  const { scheme, credentials } = readAuthorization(authorization);
  switch (scheme) {
    case "splunk":
      if (credentials === "") throw new CollectorRefusal("tokenRequired");
      return credentials;
    case "basic": {
      const text = Buffer.from(credentials, "base64").toString("utf8");
      const colon = text.indexOf(":");
      if (colon < 0) throw new CollectorRefusal("invalidAuthorization");
      return text.slice(colon + 1);
    }
    default:
      throw new CollectorRefusal("invalidAuthorization");
  }
}

function findEnabled({ collector }: CollectorTwin, token: string): HecTokenRow {
  const row = collector.tokensByDigest.get(sha256(token));
  if (!row) throw new CollectorRefusal("invalidToken");
  if (row.disabled) throw new CollectorRefusal("tokenDisabled");
  return row;
}

/** The channel that the request names, if any. @throws CollectorRefusal for an invalid name */
export function channelOf({ headers, query }: VendorRequest): string | undefined {
  const header = headers["x-splunk-request-channel"];
  const channel = (Array.isArray(header) ? header[0] : header) ?? query.get("channel") ?? undefined;
  if (channel === undefined || channel === "") return undefined;
  if (!guid.test(channel)) throw new CollectorRefusal("channelInvalid");
  return channel;
}
