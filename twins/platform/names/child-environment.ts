/** The environment of a program that is to meet the twins instead of the vendors. */
import { fileURLToPath } from "node:url";
import { createHostNames } from "../sandboxes/host-names.ts";
import type { TwinAddresses } from "../server/start.ts";
import type { Names } from "./names.ts";
import { covers, readNoProxy, suffixOf } from "./outside.ts";
import { trustVariables } from "./trust.ts";

/** What is needed of running twins, whether they run in this process or in another. */
export interface Reachable {
  sandboxes: { id: string; twins: Pick<TwinAddresses, "name" | "environment">[] }[];
  names: Names;
}

const preload = fileURLToPath(new URL("./preload.cjs", import.meta.url));

/**
 * What a program finds in its environment: its own, with the variables of every twin of the first sandbox, the proxy that
 * leads the vendors' names to the twins, the preload for Node and the authority's certificate. The twins' variables win,
 * so that no key of a real vendor gets used.
 * @param proxyUrl with user and password
 */
export async function childEnvironment(
  own: NodeJS.ProcessEnv,
  { sandboxes, names }: Reachable,
  proxyUrl: string,
): Promise<NodeJS.ProcessEnv> {
  const variables = (sandboxes[0]?.twins ?? []).map(({ environment }) => environment);
  return {
    ...own,
    ...Object.assign({}, ...variables),
    TWINS_NAMES: JSON.stringify(names),
    NODE_OPTIONS: [own.NODE_OPTIONS, `--require ${quote(preload)}`].filter(Boolean).join(" "),
    ...(await trustVariables(own, names.ca_file)),
    ...proxyVariables(own, names, proxyUrl),
  };
}

/** `NODE_OPTIONS` is split at spaces, except within quotes. */
function quote(file: string): string {
  return `"${file.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Both cases: curl reads `http_proxy` in lower case alone, others prefer the upper one. */
function proxyVariables(own: NodeJS.ProcessEnv, names: Names, url: string): Record<string, string> {
  const exceptions = ["localhost", "127.0.0.1", "::1", names.address, ...exceptionsBesideTwins(own, names)];
  const noProxy = [...new Set(exceptions)].join(",");
  return {
    HTTPS_PROXY: url,
    https_proxy: url,
    HTTP_PROXY: url,
    http_proxy: url,
    NO_PROXY: noProxy,
    no_proxy: noProxy,
  };
}

/** The entries of `NO_PROXY` that keep no twin's name from the proxy; the proxy itself follows the others. */
function exceptionsBesideTwins(own: NodeJS.ProcessEnv, { hosts }: Names): string[] {
  const known = createHostNames();
  for (const { name, sandbox, twin } of hosts) known.add(name, { sandbox, twin });
  return readNoProxy(own).filter(
    (entry) =>
      known.find(suffixOf(entry)) === undefined && !hosts.some(({ name }) => covers(entry, suffixOf(name))),
  );
}
