/** Environment variables that lead a program to the twins instead of the vendors. */
import { fileURLToPath } from "node:url";
import { createHostNames } from "../sandboxes/host-names.ts";
import type { TwinAddresses } from "../server/start.ts";
import type { Names } from "./names.ts";
import { covers, readNoProxy, suffixOf } from "./outside.ts";
import { trustVariables } from "./trust.ts";

/** Addresses of running twins, in this process or another. */
export interface Reachable {
  sandboxes: { id: string; twins: Pick<TwinAddresses, "name" | "environment">[] }[];
  names: Names;
}

const preload = fileURLToPath(new URL("./preload.cjs", import.meta.url));

/**
 * The environment of a program: its own, plus the variables of every twin of the first sandbox, the proxy that leads the
 * vendors' names to the twins, the preload for Node and the authority's certificate. The twins' variables override others,
 * so that no key of a real vendor is used.
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

/** Quotes a file for `NODE_OPTIONS`, which is split at unquoted spaces. */
function quote(file: string): string {
  return `"${file.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Sets both cases: curl reads `http_proxy` only in lower case, others prefer upper case. */
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

/** The entries of `NO_PROXY` that cover no twin's name. */
function exceptionsBesideTwins(own: NodeJS.ProcessEnv, { hosts }: Names): string[] {
  const known = createHostNames();
  for (const { name, sandbox, twin } of hosts) known.add(name, { sandbox, twin });
  return readNoProxy(own).filter(
    (entry) =>
      known.find(suffixOf(entry)) === undefined && !hosts.some(({ name }) => covers(entry, suffixOf(name))),
  );
}
