/** What a server drives: twins and an agent that run elsewhere. Each is located anew for every tool call, since either may be restarted between two. */
import { ask, keyHeader } from "@offhook/caller/ask";
import type { Framing } from "@offhook/caller/line";
import type { SandboxAddress } from "@offhook/caller/sandbox-client";
import type { Telemetry } from "@offhook/platform/telemetry/telemetry";
import { z } from "zod";

/** A tool call that cannot be carried out as asked; the message says what would be right. */
export class ToolError extends Error {
  override name = "ToolError";
}

/** An agent that takes calls. */
export interface Callee {
  /** Its voice channel, `ws://host:port/voice`. */
  url: string;
  /** Of its channel; otherwise the scenario's. */
  framing?: Framing | undefined;
  headers: Record<string, string>;
}

/** Where the twins, the agent and the scenarios are. */
export interface Project {
  /** Of the scenarios' files. */
  scenariosFolder: string;
  /** Of the callers' recordings. */
  samplesFolder: string;
  /** Where the traces of the calls go; default: nowhere. */
  telemetry?: Telemetry;
  /** @returns `undefined` when no twins run. @throws when they cannot be used as they are */
  locateTwins(): SandboxAddress | undefined;
  /** Waits while the agent restarts. @throws when it does not come back */
  locateAgent(onWait: (reason: string) => void): Promise<Callee>;
}

const sandboxDescription = z.object({
  twins: z.array(z.object({ name: z.string(), url: z.string() })),
});

type Query = Record<string, string | number | readonly string[] | undefined>;

/** The control planes of one sandbox. Every method throws `SandboxError` with the twins' own words. */
export class ControlPlanes {
  readonly #address: Required<SandboxAddress>;

  /** @throws ToolError when no twins run */
  constructor({ locateTwins }: Project) {
    const address = locateTwins();
    if (address === undefined) {
      throw new ToolError(
        "no twins run in this folder: start them with npm run dev, or give this server their address with --twins and --key",
      );
    }
    this.#address = { sandbox: "dev", ...address, baseUrl: address.baseUrl.replace(/(?<!\/)\/+$/, "") };
  }

  /** The twins of the sandbox, with the addresses that the code under test uses. */
  async twins(): Promise<{ name: string; url: string }[]> {
    return sandboxDescription.parse(await this.ofSandbox("GET", "")).twins;
  }

  async has(twin: string): Promise<boolean> {
    return (await this.twins()).some(({ name }) => name === twin);
  }

  /** Names of the twins that an optional choice means. @throws ToolError for one that is not there */
  async choose(twin: string | undefined): Promise<string[]> {
    const names = (await this.twins()).map(({ name }) => name);
    if (twin === undefined) return names;
    if (names.includes(twin)) return [twin];
    throw new ToolError(`there is no twin "${twin}" in this sandbox; it has ${names.join(", ")}`);
  }

  /** Asks `/sim/…` of a twin. @throws ToolError when there is no such twin */
  async ofTwin(method: string, twin: string, path: string, query: Query = {}, body?: unknown) {
    await this.choose(twin);
    const { baseUrl, sandbox } = this.#address;
    return this.#ask(method, `${baseUrl}/c/${sandbox}/${twin}/sim/${path}`, query, body);
  }

  /** Asks `/sandboxes/{id}…`. */
  ofSandbox(method: string, path: string, query: Query = {}): Promise<unknown> {
    const { baseUrl, sandbox } = this.#address;
    return this.#ask(method, `${baseUrl}/sandboxes/${sandbox}${path}`, query);
  }

  #ask(method: string, url: string, query: Query, body?: unknown): Promise<unknown> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined) search.append(name, String(one));
      }
    }
    return ask(method, search.size > 0 ? `${url}?${search}` : url, keyHeader(this.#address), body);
  }
}
