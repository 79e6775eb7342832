/** A sandbox created for one run, so that parallel runs are isolated from one another. */
import { z } from "zod";
import { ask, keyHeader, type SandboxAddress } from "./ask.ts";

export interface OwnSandbox {
  address: Required<SandboxAddress>;
  /** The environment variables that point code under test at these twins. */
  environment: Record<string, string>;
  /** Deletes the sandbox and everything in it. */
  remove(): Promise<void>;
}

const description = z.object({
  id: z.string(),
  twins: z.array(z.object({ environment: z.record(z.string(), z.string()) })),
});

/** Longest run: time to live of a sandbox that is never removed. */
const MAX_RUN_SECONDS = 3_600;

/**
 * Creates a sandbox with the services of the environment file.
 * @param ttlSeconds after which the twins remove it by themselves
 * @throws SandboxError
 */
export async function createSandbox(
  { baseUrl, apiKey }: Omit<SandboxAddress, "sandbox">,
  ttlSeconds = MAX_RUN_SECONDS,
): Promise<OwnSandbox> {
  const url = `${baseUrl.replace(/(?<!\/)\/+$/, "")}/sandboxes`;
  const headers = keyHeader({ apiKey });
  const made = await ask("POST", url, headers, { ttl_seconds: ttlSeconds });
  const { id, twins } = description.parse(made);
  return {
    address: { baseUrl, apiKey, sandbox: id },
    environment: Object.assign({}, ...twins.map(({ environment }) => environment)),
    remove: async () => {
      await ask("DELETE", `${url}/${id}`, headers);
    },
  };
}
