/** Login and logout. */
import { randomBytes } from "node:crypto";
import { sha256 } from "../world/seed.ts";
import { SESSION_MS, sessionCookie, userOfPassword } from "./authenticate.ts";
import { fieldsResponse, messagesResponse } from "./messages.ts";
import { RestError } from "./rest-error.ts";
import { route } from "./route.ts";

const loginFailedError = (status: number, code?: string) =>
  new RestError(status, [{ type: "WARN", text: "Login failed", ...(code === undefined ? {} : { code }) }]);

export const authOperations = [
  ...route({
    id: "auth.login",
    method: "POST",
    path: "/auth/login",
    summary: "Give a session key for a name and a password.",
    open: true,
    secretBody: true,
    handle({ twin, arguments: given, mode }) {
      const username = given.text("username");
      const password = given.text("password");
      if (username === undefined || password === undefined) throw loginFailedError(400);
      if (!userOfPassword(username, password, twin))
        throw loginFailedError(401, "incorrect_username_or_password");
      const sessionKey = randomBytes(64).toString("base64url");
      const nowMs = twin.clock.now();
      twin.tables.table("sessions").insert({
        key_sha256: sha256(sessionKey),
        user: username,
        created_at: new Date(nowMs).toISOString(),
        expires_at: new Date(nowMs + SESSION_MS).toISOString(),
      });
      const fields = mode === "json" ? { sessionKey, message: "", code: "" } : { sessionKey };
      const response = fieldsResponse(200, fields, mode);
      if (!given.flag("cookie", false)) return response;
      return { ...response, headers: { ...response.headers, "set-cookie": sessionCookie(sessionKey) } };
    },
  }),
  ...route({
    id: "auth.logout",
    method: "DELETE",
    path: "/authentication/httpauth-tokens/:key",
    summary: "End a session.",
    handle({ params, twin, mode }) {
      const removed = twin.tables.table("sessions").remove(sha256(params.key ?? ""));
      if (removed) return messagesResponse(200, [], mode);
      throw new RestError(404, [{ type: "ERROR", text: "Could not find object." }]);
    },
  }),
];
