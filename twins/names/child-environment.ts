/** The environment of a program that is to meet the twins instead of the vendors. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { TwinAddresses } from "../sandbox/start.ts";
import type { Names } from "./names.ts";
import { replaceFile } from "./replace-file.ts";

/** What is needed of running twins, whether they run in this process or in another. */
export interface Reachable {
  sandboxes: { id: string; twins: Pick<TwinAddresses, "name" | "environment">[] }[];
  names: Names;
}

const BUNDLE = "ca-bundle.pem";
const preload = fileURLToPath(new URL("./preload.cjs", import.meta.url));

/**
 * What a program finds in its environment: its own, with the variables of every twin of the first sandbox, the preload
 * for Node and the authority's certificate. The twins' variables win, so that no key of a real vendor gets used.
 */
export async function childEnvironment(
  own: NodeJS.ProcessEnv,
  { sandboxes, names }: Reachable,
): Promise<NodeJS.ProcessEnv> {
  const variables = (sandboxes[0]?.twins ?? []).map(({ environment }) => environment);
  return {
    ...own,
    ...Object.assign({}, ...variables),
    TWINS_NAMES: JSON.stringify(names),
    NODE_OPTIONS: [own.NODE_OPTIONS, `--require ${quoted(preload)}`].filter(Boolean).join(" "),
    NODE_EXTRA_CA_CERTS: await certificates(own.NODE_EXTRA_CA_CERTS, names.ca_file),
    ...withoutProxy(own, names),
  };
}

/** `NODE_OPTIONS` is split at spaces, except within quotes. */
function quoted(file: string): string {
  return `"${file.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Node takes one file, so one that was there already goes into a file with ours. */
async function certificates(others: string | undefined, ours: string): Promise<string> {
  if (!others || path.resolve(others) === ours) return ours;
  const bundle = path.join(path.dirname(ours), BUNDLE);
  const texts = await Promise.all([others, ours].map((file) => readFile(file, "utf8")));
  await replaceFile(bundle, texts.join("\n"));
  return bundle;
}

/** A proxy would ask the real world for the names. */
function withoutProxy(own: NodeJS.ProcessEnv, names: Names): Record<string, string> {
  const hosts = names.hosts.map(({ name }) => (name.startsWith("*.") ? name.slice(1) : name));
  const list = [own.NO_PROXY ?? own.no_proxy, ...hosts].filter(Boolean).join(",");
  return { NO_PROXY: list, no_proxy: list };
}
