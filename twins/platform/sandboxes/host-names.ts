/** The host names that lead to twins: exact ones, and `*.example.com` for every name below example.com. */

export interface HostTarget {
  /** The sandbox's id. */
  sandbox: string;
  twin: string;
}

export interface NamedTarget {
  pattern: string;
  target: HostTarget;
}

export interface HostNames {
  /** Adds a name or a pattern, in lower case, replacing an equal one. */
  add(pattern: string, target: HostTarget): void;
  /** Whether exactly this name or pattern has been added. */
  has(pattern: string): boolean;
  /** Finds the target: an exact name wins over a pattern, a longer pattern over a shorter. @param host in lower case, without port and final dot */
  find(host: string): HostTarget | undefined;
  all(): NamedTarget[];
  /** Removes all names that lead to a sandbox. */
  release(sandbox: string): void;
}

const WILDCARD = "*";

export function createHostNames(): HostNames {
  /** Patterns are stored as `*.example.com`, which is not a valid host name. */
  const targets = new Map<string, HostTarget>();
  return {
    add: (pattern, target) => void targets.set(pattern, target),
    has: (pattern) => targets.has(pattern),
    find(host) {
      const exact = targets.get(host);
      if (exact || targets.size === 0) return exact;
      for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1)) {
        const target = targets.get(`${WILDCARD}${host.slice(dot)}`);
        if (target) return target;
      }
      return undefined;
    },
    all: () => [...targets].map(([pattern, target]) => ({ pattern, target })),
    release(sandbox) {
      for (const [pattern, target] of targets) if (target.sandbox === sandbox) targets.delete(pattern);
    },
  };
}
