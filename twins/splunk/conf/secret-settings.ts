/** Secret settings: the world stores their digests only, in the form in which the vendor shows encrypted values. */
import { createHash } from "node:crypto";

const secret = /(password|secret|pass4symmkey|_token)$/i;
const sealedMark = "$7$";

function isSecretSetting(name: string): boolean {
  return secret.test(name);
}

/** Replaces the value of a secret setting by its digest, marked like the vendor's encrypted values. */
export function sealSecret(name: string, value: string): string {
  if (value === "" || !isSecretSetting(name) || value.startsWith(sealedMark)) return value;
  return sealedMark + createHash("sha256").update(value).digest("base64");
}

export function sealSecrets(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, sealSecret(name, value)]));
}
