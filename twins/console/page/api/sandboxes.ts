/** The sandboxes of the organisation. */
import { place } from "../place.ts";
import { read } from "./client.ts";
import { type Resource, useResource } from "./resource.ts";
import type { SandboxDescription } from "./types.ts";

/** All of them, oldest first. */
export function useSandboxes(): Resource<SandboxDescription[]> {
  return useResource("sandboxes", async (signal) => {
    const { sandboxes } = await read<{ sandboxes: SandboxDescription[] }>("/sandboxes", signal);
    return sandboxes;
  });
}

/** The one that the address names. */
export function useSandbox(): Resource<SandboxDescription> {
  const { sandbox } = place.value;
  return useResource(sandbox, (signal) => read(`/sandboxes/${encodeURIComponent(sandbox)}`, signal));
}
