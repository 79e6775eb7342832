/**
 * The local certificate authority: a root created at the first start and kept in `.offhook/`, which signs one certificate
 * per host name. It is never added to the machine's trust store; programs trust it only when configured to.
 */
import { reasonOf } from "../base/reason.ts";
import "reflect-metadata";
import type { webcrypto } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import path from "node:path";
import * as x509 from "@peculiar/x509";
import { wallTime } from "../base/clock.ts";
import { replaceFile } from "./replace-file.ts";

export interface Authority {
  /** File of the root's certificate, for `NODE_EXTRA_CA_CERTS` and the like. */
  certificateFile: string;
  /** The root's certificate, PEM. */
  certificate: string;
  /** Issues a certificate for host names and addresses, with its key; both PEM. */
  issue(...hosts: string[]): Promise<IssuedCertificate>;
}

export interface IssuedCertificate {
  certificate: string;
  key: string;
}

interface Root {
  certificate: x509.X509Certificate;
  key: webcrypto.CryptoKey;
}

const KEY_AND_ROOT = "authority.pem";
const ROOT = "ca.pem";
const DAY_MS = 86_400_000;
const ROOT_DAYS = 3650;
/** A root with less validity left is replaced at start. */
const ROOT_SPARE_DAYS = 90;
const LEAF_DAYS = 30;
/** Certificates are backdated, because clocks differ. */
const BACKDATED_DAYS = 1;
const curve = { name: "ECDSA", namedCurve: "P-256" } as const;
const signing = { name: "ECDSA", hash: "SHA-256" } as const;

/**
 * Opens the authority in a folder, or creates one. Both files are readable only by their owner.
 * @throws Error naming the file that cannot be read as a key and a certificate.
 */
export async function openAuthority(folder: string): Promise<Authority> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const root = await readOrMakeRoot(path.resolve(folder, KEY_AND_ROOT));
  const certificateFile = path.resolve(folder, ROOT);
  const certificate = `${root.certificate.toString("pem")}\n`;
  await replaceFile(certificateFile, certificate);
  // One key for all names: generating keys is slow, and access to this process reveals all of them anyway.
  const leafKeys = await crypto.subtle.generateKey(curve, true, ["sign", "verify"]);
  const key = await privatePem(leafKeys.privateKey);
  return {
    certificateFile,
    certificate,
    issue: async (...hosts) => ({
      certificate: (await issueLeaf(root, leafKeys.publicKey, hosts)).toString("pem"),
      key,
    }),
  };
}

/** Issues a certificate for the machine's own names. @param host that the twins listen on @param folder of the authority */
export async function issueLocal(host: string, folder: string): Promise<IssuedCertificate> {
  const names = new Set(["localhost", "127.0.0.1", "::1", host].filter((name) => !isEveryAddress(name)));
  return (await openAuthority(folder)).issue(...names);
}

const isEveryAddress = (host: string) => host === "0.0.0.0" || host === "::";

async function readOrMakeRoot(file: string): Promise<Root> {
  const found = await readRoot(file);
  if (found && found.certificate.notAfter.getTime() > wallTime() + ROOT_SPARE_DAYS * DAY_MS) return found;
  if (found) await rm(file, { force: true });
  const draft = `${file}.${process.pid}.${crypto.randomUUID()}`;
  await writeFile(draft, await makeRoot(), { mode: 0o600, flag: "wx" });
  try {
    // Linking fails when another process was faster; its root is then used by all.
    await link(draft, file);
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readRoot(file);
  if (!made) throw new Error(`${file} went away while it was being read; start again`);
  return made;
}

async function readRoot(file: string): Promise<Root | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    const [key, certificate] = x509.PemConverter.decode(text);
    if (!key || !certificate) throw new Error("it holds no key and certificate");
    return {
      key: await crypto.subtle.importKey("pkcs8", key, curve, false, ["sign"]),
      certificate: new x509.X509Certificate(certificate),
    };
  } catch (error) {
    const reason = reasonOf(error);
    throw new Error(`${file} is no certificate authority (${reason}); remove it, and a new one is made`);
  }
}

/** Writes key and certificate into one file, so that they always match. */
async function makeRoot(): Promise<string> {
  const keys = await crypto.subtle.generateKey(curve, true, ["sign", "verify"]);
  const now = wallTime();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: "CN=offhook local authority, O=offhook",
    keys,
    notBefore: new Date(now - BACKDATED_DAYS * DAY_MS),
    notAfter: new Date(now + ROOT_DAYS * DAY_MS),
    signingAlgorithm: signing,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${await privatePem(keys.privateKey)}${certificate.toString("pem")}\n`;
}

async function issueLeaf(
  root: Root,
  publicKey: webcrypto.CryptoKey,
  hosts: readonly string[],
): Promise<x509.X509Certificate> {
  const now = wallTime();
  return x509.X509CertificateGenerator.create({
    // The name is in the alternative names only: a common name is limited to 64 characters.
    subject: "O=offhook",
    issuer: root.certificate.subjectName,
    publicKey,
    signingKey: root.key,
    signingAlgorithm: signing,
    notBefore: new Date(now - BACKDATED_DAYS * DAY_MS),
    notAfter: new Date(now + (LEAF_DAYS - BACKDATED_DAYS) * DAY_MS),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) === 0 ? "dns" : "ip", value: host })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(root.certificate.publicKey),
    ],
  });
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  return `${x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY")}\n`;
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
