/** A shop whose faults a test arms. */
import engine from "@offhook/engine";
import type { RunningTwins } from "../server/start.ts";
import { type Answer, request } from "./http.ts";
import { createShop } from "./shop-twin.ts";
import { addressesOf, startEnvironment } from "./twins.ts";

export interface FaultyShop {
  twins: RunningTwins;
  url: string;
  control(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Arms a fault. @throws Error when it is refused */
  arm(fault: object): Promise<Answer["body"]>;
  /** The one fault that is armed. */
  only(): Promise<Answer["body"]>;
  /** The newest requests of the code under test, oldest first. */
  requests(): Promise<Answer["body"][]>;
  stop(): Promise<void>;
}

export async function startFaultyShop(note?: (what: string) => void): Promise<FaultyShop> {
  const services = "version: 1\nservices:\n  - name: shop\n    config: { stock: [lamp, chair] }\n";
  const twins = await startEnvironment(services, { twins: [engine, createShop(note)] });
  const { url, control_url } = addressesOf(twins, "shop");
  const control = (method: string, path: string, body?: unknown) =>
    request(method, `${control_url}/sim${path}`, { headers: { "x-api-key": twins.apiKey }, body });
  return {
    twins,
    url,
    control,
    async arm(fault) {
      const answer = await control("POST", "/faults", fault);
      if (answer.status !== 201) throw new Error(`the fault was refused: ${answer.text}`);
      return answer.body;
    },
    only: async () => (await control("GET", "/faults")).body.faults[0],
    requests: async () => (await control("GET", "/requests?tier=vendor")).body.requests,
    stop: () => twins.stop(),
  };
}
