/** The event collector of a log-query twin, for tests: requests with a token, and what searches find of them. */
import { createHash } from "node:crypto";
import { type Answer, request } from "@offhook/platform/testing/http";
import { type SplunkSandbox, startSplunk } from "./splunk.ts";

export const TOKEN = "0f5a9c3e-7b1d-4e62-9a48-c6d2e81b3f70";
export const CHANNEL = "FE0ECFAD-13D5-401B-847D-77833BD77131";

export interface Collector {
  splunk: SplunkSandbox;
  /** Sends to the collector, with the seeded token unless the headers say otherwise. */
  send(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Adds a token. */
  addToken(name: string, value: string, more?: object): Promise<void>;
  /** Rows that a search finds, oldest event first. */
  found(search: string): Promise<Record<string, string | string[]>[]>;
  /** The texts of all events, oldest first. */
  texts(): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startCollector(config: Record<string, unknown> = {}): Promise<Collector> {
  const splunk = await startSplunk(config);
  const rows = async (): Promise<Record<string, unknown>[]> =>
    (await splunk.control("GET", "/data?entity_type=events&limit=1000")).body.rows;
  return {
    splunk,
    send: (path, body, headers = { authorization: `Splunk ${TOKEN}` }) =>
      request("POST", `${splunk.url}/services/collector${path}`, { headers, body }),
    async addToken(name, value, more = {}) {
      const token_sha256 = createHash("sha256").update(value).digest("hex");
      const answer = await splunk.control("POST", "/data", {
        data: { hec_tokens: [{ name, token_sha256, ...more }] },
      });
      if (answer.status !== 201) throw new Error(answer.text);
    },
    async found(search) {
      const answer = await splunk.ask("POST", "/services/search/jobs", {
        search: `search ${search}`,
        exec_mode: "oneshot",
        output_mode: "json",
      });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body.results.reverse();
    },
    texts: async () => (await rows()).map(({ _raw }) => String(_raw)),
    stop: () => splunk.stop(),
  };
}
