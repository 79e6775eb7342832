/** Proofs of what the log-query twin says of itself. */
import { expect } from "vitest";
import { request } from "../../support/http.ts";
import type { Proofs } from "./proof.ts";

const form = { "content-type": "application/x-www-form-urlencoded" };
const INFO = "/services/server/info?output_mode=json";

export const splunkProofs: Proofs = {
  async "splunk.accounts"({ url, control }) {
    for (const authorization of [
      `Basic ${btoa("admin:splunk-twin-password")}`,
      "Bearer splunk-twin-token",
      "Splunk splunk-twin-token",
    ]) {
      expect((await request("GET", `${url}${INFO}`, { headers: { authorization } })).status).toBe(200);
    }
    expect((await control("GET", "/requests?operation=server.info")).text).not.toContain("splunk-twin-");
  },
  async "splunk.refused-credentials"({ url }) {
    const ask = (headers: Record<string, string>) => request("GET", `${url}${INFO}`, { headers });
    const anonymous = await ask({});
    expect(anonymous.status).toBe(401);
    expect(anonymous.headers.get("www-authenticate")).toBe('Basic realm="/splunk"');
    expect(anonymous.body).toEqual({ messages: [{ type: "ERROR", text: "Unauthorized" }] });
    expect((await ask({ authorization: `Basic ${btoa("admin:no")}` })).status).toBe(401);
    const unknown = await ask({ authorization: "Splunk no-such-key" });
    expect(unknown.status).toBe(401);
    expect(unknown.body).toEqual({ messages: [{ type: "WARN", text: "call not properly authenticated" }] });
  },
  async "splunk.login-again"({ url, control }) {
    const login = async () => {
      const body = "username=admin&password=splunk-twin-password&output_mode=json";
      const answer = await request("POST", `${url}/services/auth/login`, { headers: form, body });
      return String(answer.body.sessionKey);
    };
    const keys = [await login(), await login()];
    expect(new Set(keys).size).toBe(2);
    const asked = (key: string) =>
      request("GET", `${url}${INFO}`, { headers: { authorization: `Splunk ${key}` } });
    expect((await Promise.all(keys.map(asked))).map(({ status }) => status)).toEqual([200, 200]);
    const { body: clock } = await control("GET", "/clock");
    const later = new Date(Date.parse(clock.now) + 3_600_001).toISOString();
    await control("PUT", "/clock", { now: later, frozen: true });
    expect((await Promise.all(keys.map(asked))).map(({ status }) => status)).toEqual([401, 401]);
    expect((await asked(await login())).status).toBe(200);
  },
};
