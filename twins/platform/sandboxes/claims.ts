/** Claims of sandboxes on the machine: host names, which no two sandboxes can share, and ports. */
import { createHostNames } from "./host-names.ts";
import { FIRST_SANDBOX, SandboxRefusal } from "./sandbox-refusal.ts";
import type { CheckedService } from "./services.ts";

export class Claims {
  /** The twin of each claimed host name. */
  readonly hosts = createHostNames();
  readonly #owner: string;
  readonly #gatewayHost: string;

  /** @param owner the only organisation that may claim anything */
  constructor(owner: string, baseUrl: string) {
    this.#owner = owner;
    this.#gatewayHost = new URL(baseUrl).hostname;
  }

  /**
   * Claims the host names of a sandbox's services. Only the owner may: a host name attracts requests meant for others.
   * @throws SandboxRefusal, and then nothing is claimed
   */
  add(organisation: string, sandbox: string, services: readonly CheckedService[]): void {
    const claiming = services.some(({ dnsAliases, port }) => dnsAliases.length > 0 || port !== undefined);
    if (claiming && organisation !== this.#owner) {
      const rule = "only the organisation that owns dev may claim host names and ports";
      throw new SandboxRefusal(403, "forbidden", rule);
    }
    const claims = services.flatMap(({ definition, dnsAliases }) =>
      dnsAliases.map((host) => ({ host, twin: definition.name })),
    );
    const taken = claims.find(({ host }) => host === this.#gatewayHost || this.hosts.has(host));
    if (taken) {
      throw new SandboxRefusal(
        409,
        "conflict",
        `the host name ${taken.host} belongs to another twin or the gateway`,
      );
    }
    // The vendors' own names lead to the first sandbox. Its explicit aliases, added below, override them.
    if (sandbox === FIRST_SANDBOX) {
      for (const { cloudHosts = [], name } of services.map(({ definition }) => definition)) {
        for (const host of cloudHosts) this.hosts.add(host, { sandbox, twin: name });
      }
    }
    for (const { host, twin } of claims) this.hosts.add(host, { sandbox, twin });
  }

  release(sandbox: string): void {
    this.hosts.release(sandbox);
  }
}
