/** Settings that are secrets: they are kept as the vendor shows them, so that nobody reads them anywhere. */
import { createHash } from "node:crypto";

const secret = /(password|secret|pass4symmkey|_token)$/i;
const sealedMark = "$7$";

export function isSecretSetting(name: string): boolean {
  return secret.test(name);
}

/** The value of a setting as it is kept: a secret's digest, marked as the vendor marks what it has encrypted. */
export function sealSecret(name: string, value: string): string {
  if (value === "" || !isSecretSetting(name) || value.startsWith(sealedMark)) return value;
  return sealedMark + createHash("sha256").update(value).digest("base64");
}

export function sealSecrets(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, sealSecret(name, value)]));
}
