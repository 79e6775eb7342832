/** A client of `npm run mcp`, as coding agents have one: the SDK's own, over standard input and output of a process. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "vitest";
import { z } from "zod";
import { PROJECT } from "../../../scripts/shared/folders.ts";
import type { House } from "../../../scripts/shared/house.ts";

const texts = z.array(z.object({ type: z.literal("text"), text: z.string() }));

export class McpClient {
  readonly client = new Client({ name: "test", version: "1" });
  /** Names of the tools that were called, in order. */
  readonly called: string[] = [];
  readonly #secrets: readonly string[];

  /** @param secrets that no answer may hold */
  private constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /** Starts a server on a sandbox and the agent at an address. */
  static async start({ twins }: House, sandbox: string, voiceUrl: string): Promise<McpClient> {
    const { baseUrl, apiKey } = twins;
    const started = new McpClient([apiKey]);
    const options = ["--twins", baseUrl, "--key", apiKey, "--sandbox", sandbox, "--url", voiceUrl];
    const args = ["scripts/shared/start.cjs", "scripts/mcp.ts", ...options];
    await started.client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: PROJECT, stderr: "inherit" }),
    );
    // So that the client checks answers against the tools' schemas.
    await started.client.listTools();
    return started;
  }

  /** Calls a tool that must answer. */
  async call<Answer>(
    name: string,
    args: Record<string, unknown>,
    answer: z.ZodType<Answer>,
    onprogress?: (progress: Progress) => void,
  ): Promise<Answer> {
    const { isError, text, structured } = await this.#request(name, args, onprogress);
    expect(isError, text).toBe(false);
    expect(JSON.parse(text)).toEqual(structured);
    return answer.parse(structured);
  }

  /** Calls a tool that must refuse. @returns its words */
  async refusal(name: string, args: Record<string, unknown>): Promise<string> {
    const { isError, text } = await this.#request(name, args);
    expect(isError, text).toBe(true);
    return text;
  }

  /** Calls a tool and cancels it when it reports progress of this message. */
  async cancelAt(name: string, args: Record<string, unknown>, message: RegExp): Promise<void> {
    this.called.push(name);
    const cancelling = new AbortController();
    const onprogress = (progress: Progress) => {
      if (message.test(progress.message ?? "")) cancelling.abort("the test cancels it");
    };
    const options = { signal: cancelling.signal, onprogress };
    const result = this.client.callTool({ name, arguments: args }, undefined, options);
    await expect(result).rejects.toThrow("the test cancels it");
  }

  async #request(name: string, args: Record<string, unknown>, onprogress?: (progress: Progress) => void) {
    this.called.push(name);
    const options = onprogress && { onprogress };
    const result = await this.client.callTool({ name, arguments: args }, undefined, options);
    const text = texts
      .parse(result.content)
      .map((part) => part.text)
      .join("");
    for (const secret of this.#secrets) expect(text).not.toContain(secret);
    return { isError: result.isError === true, text, structured: result.structuredContent };
  }
}
