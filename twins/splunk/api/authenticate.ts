/** Authenticates requests: by session key, token, or user name and password. */
import { timingSafeEqual } from "node:crypto";
import { readAuthorization } from "@offhook/platform/http/authorization";
import type { VendorRequest } from "@offhook/platform/http/operation";
import type { LogQueryTwin } from "../log-query-twin.ts";
import { MANAGEMENT_PORT } from "../product.ts";
import { sha256 } from "../world/seed.ts";
import type { UserRow } from "../world/tables.ts";
import { RestError } from "./rest-error.ts";

/** Idle time after which a session expires. */
export const SESSION_MS = 3_600_000;
/** Interval of extending a session: not every request writes the row. */
const SESSION_EXTENSION_MS = 60_000;

/** @throws RestError 401 */
export function authenticate(request: VendorRequest, twin: LogQueryTwin): UserRow {
  const { authorization } = request.headers;
  if (authorization === undefined) {
    const key = cookieOf(request.headers.cookie);
    if (key === undefined) throw anonymous();
    return userOfKey(key, twin);
  }
  const { scheme, credentials } = readAuthorization(authorization);
  if (credentials === "") throw anonymous();
  switch (scheme) {
    case "splunk":
    case "bearer":
      return userOfKey(credentials, twin);
    case "basic": {
      const text = Buffer.from(credentials, "base64").toString("utf8");
      const colon = text.indexOf(":");
      const user = colon < 0 ? undefined : userOfPassword(text.slice(0, colon), text.slice(colon + 1), twin);
      if (user) return user;
      throw anonymous();
    }
    default:
      throw anonymous();
  }
}

export function userOfPassword(name: string, password: string, twin: LogQueryTwin): UserRow | undefined {
  const user = twin.tables.table("users").get(name);
  if (!user) return undefined;
  const matches = timingSafeEqual(Buffer.from(user.password_sha256), Buffer.from(sha256(password)));
  return matches ? user : undefined;
}

/** @throws RestError 401 */
function userOfKey(key: string, twin: LogQueryTwin): UserRow {
  const sessions = twin.tables.table("sessions");
  const session = sessions.get(sha256(key));
  const nowMs = twin.clock.now();
  const expiresMs = session?.expires_at ? Date.parse(session.expires_at) : Number.POSITIVE_INFINITY;
  const user = session && twin.tables.table("users").get(session.user);
  if (!session || !user || expiresMs <= nowMs) {
    throw new RestError(401, [{ type: "WARN", text: "call not properly authenticated" }]);
  }
  if (session.kind === "session" && expiresMs - nowMs < SESSION_MS - SESSION_EXTENSION_MS) {
    sessions.update(session.key_sha256, { expires_at: new Date(nowMs + SESSION_MS).toISOString() });
  }
  return user;
}

/** The value of the cookie `splunkd_<port>`, whichever port the client used. */
function cookieOf(cookies: string | undefined): string | undefined {
  const named = /(?:^|;)\s*splunkd_\d+=([^;]*)/.exec(cookies ?? "");
  const value = named?.[1]?.trim();
  return value === undefined || value === "" ? undefined : value.replace(/^"(.*)"$/, "$1");
}

/** The cookie that carries a session key. */
export function sessionCookie(key: string): string {
  return `splunkd_${MANAGEMENT_PORT}=${key}; Path=/; HttpOnly; Max-Age=${SESSION_MS / 1000}`;
}

function anonymous(): RestError {
  return new RestError(401, [{ type: "ERROR", text: "Unauthorized" }], {
    "www-authenticate": 'Basic realm="/splunk"',
  });
}
