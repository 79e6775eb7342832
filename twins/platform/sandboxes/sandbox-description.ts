/** The description of a sandbox for its owner. */
import type { Sandbox } from "./sandbox.ts";
import type { LivingSandbox } from "./sandboxes.ts";

/** A twin's addresses, in the form in which `npm run twins -- --json` prints them. */
export interface TwinAddresses {
  name: string;
  /** Address for the code under test. */
  url: string;
  /** Base of `/sim/…`. */
  control_url: string;
  /** `null`: the control plane takes no key (legacy layout). */
  control_auth: "api_key" | null;
  /** Address of the service's own port, if it has one; the vendor API is at its root. */
  port_url?: string;
  /** Environment variables a client of this twin needs. */
  environment: Record<string, string>;
}

/** A sandbox as `/sandboxes` answers it. */
export interface SandboxDescription {
  id: string;
  /** The environment whose datasets its services use. */
  environment: string;
  layout: Sandbox["layout"];
  created_at: string;
  /** When it expires; `null`: never. */
  expires_at: string | null;
  twins: TwinAddresses[];
}

export function describeSandbox(living: LivingSandbox): SandboxDescription {
  const { sandbox, createdAtMs, expiresAtMs } = living;
  return {
    id: sandbox.id,
    environment: sandbox.environment,
    layout: sandbox.layout,
    created_at: new Date(createdAtMs).toISOString(),
    expires_at: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
    twins: addressesOf(living),
  };
}

/** The addresses of its twins. */
export function addressesOf({ sandbox, ports }: Pick<LivingSandbox, "sandbox" | "ports">): TwinAddresses[] {
  return [...sandbox.twins.values()].map((twin) => {
    const { name } = twin.type.definition;
    const port = ports.get(name);
    return {
      name,
      url: twin.url,
      control_url: twin.controlUrl,
      control_auth: sandbox.layout === "legacy" ? null : "api_key",
      ...(port ? { port_url: port.url } : {}),
      environment: twin.type.definition.clientEnvironment(twin.url),
    };
  });
}
