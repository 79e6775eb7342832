/** A sandbox made for one run, so that runs side by side never see one another. */
import { z } from "zod";
import { ask, keyHeader, type SandboxAddress } from "./ask.ts";

export interface OwnSandbox {
  address: Required<SandboxAddress>;
  /** The variables by which code under test finds its twins. */
  environment: Record<string, string>;
  /** Ends it and everything in it. */
  remove(): Promise<void>;
}

const description = z.object({
  id: z.string(),
  twins: z.array(z.object({ environment: z.record(z.string(), z.string()) })),
});

/** It ends by itself when nobody ended it. */
const MAX_RUN_SECONDS = 3_600;

/** Makes a sandbox with the services of the environment file. @throws SandboxError */
export async function createSandbox({
  baseUrl,
  apiKey,
}: Omit<SandboxAddress, "sandbox">): Promise<OwnSandbox> {
  const url = `${baseUrl.replace(/(?<!\/)\/+$/, "")}/sandboxes`;
  const headers = keyHeader({ apiKey });
  const made = await ask("POST", url, headers, { ttl_seconds: MAX_RUN_SECONDS });
  const { id, twins } = description.parse(made);
  return {
    address: { baseUrl, apiKey, sandbox: id },
    environment: Object.assign({}, ...twins.map(({ environment }) => environment)),
    remove: async () => {
      await ask("DELETE", `${url}/${id}`, headers);
    },
  };
}
