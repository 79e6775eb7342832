/** Certificate bundles by which programs trust the local authority in addition to those they already trust. */

import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { rootCertificates } from "node:tls";
import { reasonOf } from "../base/reason.ts";
import { replaceFile } from "./replace-file.ts";

/** Variables that name a program's trusted authorities, each with its fallbacks when unset. */
const REPLACING_VARIABLES = {
  /** OpenSSL, and so Python's `ssl`, Ruby and PHP; Go. */
  SSL_CERT_FILE: [],
  /** Python's requests. */
  REQUESTS_CA_BUNDLE: ["CURL_CA_BUNDLE"],
  CURL_CA_BUNDLE: ["SSL_CERT_FILE"],
} as const satisfies Record<string, readonly string[]>;

/** Paths of the systems' root bundles, in the order of Go's `crypto/x509`. */
const SYSTEM_BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * Sets the variables by which programs find their authorities. Each names a new file with our root plus the roots it named
 * before, or the system's. Node adds to its built-in roots, so it gets only ours.
 * @param caFile the authority's certificate; the files are written beside it
 * @throws Error naming the variable whose file cannot be read.
 */
export async function trustVariables(
  own: NodeJS.ProcessEnv,
  caFile: string,
): Promise<Record<string, string>> {
  const ours = await readFile(caFile, "utf8");

  async function extend(variable: string, from: string): Promise<string> {
    const theirs = await readAuthorities(from, own[from] ?? "");
    return write(`ca-bundle-${variable.toLowerCase()}.pem`, theirs);
  }

  async function write(name: string, theirs: string): Promise<string> {
    const file = path.join(path.dirname(caFile), name);
    // Within a nested exec, our root is already included.
    const text = theirs.includes(ours.trim()) ? theirs : `${theirs.trimEnd()}\n${ours}`;
    await replaceFile(file, text);
    return file;
  }

  const system = await write("ca-bundle.pem", await systemRoots());
  const variables: Record<string, string> = {};
  for (const [variable, others] of Object.entries(REPLACING_VARIABLES)) {
    const from = [variable, ...others].find((name) => (own[name] ?? "") !== "");
    variables[variable] = from === undefined ? system : await extend(variable, from);
  }
  const node = "NODE_EXTRA_CA_CERTS";
  const keeps = (own[node] ?? "") === "" || path.resolve(own[node] ?? "") === caFile;
  return { ...variables, [node]: keeps ? caFile : await extend(node, node) };
}

async function systemRoots(): Promise<string> {
  for (const file of SYSTEM_BUNDLES) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text !== undefined) return text;
  }
  return rootCertificates.join("\n");
}

/** Reads a file of certificates, or a folder of such files, as OpenSSL and requests accept them. */
async function readAuthorities(variable: string, place: string): Promise<string> {
  try {
    if (!(await stat(place)).isDirectory()) return await readFile(place, "utf8");
    const files = await readdir(place, { withFileTypes: true });
    const texts = files
      .filter((file) => !file.isDirectory())
      .map((file) => readFile(path.join(place, file.name), "utf8"));
    return [...new Set(await Promise.all(texts))].join("\n");
  } catch (error) {
    const reason = reasonOf(error);
    throw new Error(
      `${variable} names no certificates that can be read (${reason}); name a file that is there, or unset it`,
      { cause: error },
    );
  }
}
