/**
 * Keeps the secrets of assistants out of the world. A configuration is stored sealed: header values, webhook secrets and
 * credentials are replaced by references, and only this process can turn a reference back. A snapshot therefore
 * carries no secret, and loading it back into the running twin loses none.
 */
import { createHmac, randomBytes } from "node:crypto";

const MOST_SECRETS = 20_000;
const PREFIX = "sealed:";

/** Members whose text is a secret wherever they stand. */
const SECRET_MEMBERS = new Set(["secret", "serverUrlSecret", "apiKey", "authToken", "token", "password"]);
/** Members all of whose texts are secret. */
const SECRET_OBJECTS = new Set(["headers", "credentials"]);

export interface SecretVault {
  /** A copy with every secret replaced by a reference. */
  seal<Value>(value: Value): Value;
  /** A copy with every known reference replaced by its secret. */
  unseal<Value>(value: Value): Value;
}

export function createSecretVault(): SecretVault {
  const key = randomBytes(32);
  const secrets = new Map<string, string>();

  function hide(secret: string): string {
    if (secrets.has(secret)) return secret;
    const reference = `${PREFIX}${createHmac("sha256", key).update(secret).digest("hex").slice(0, 32)}`;
    secrets.delete(reference);
    secrets.set(reference, secret);
    for (const oldest of secrets.keys()) {
      if (secrets.size <= MOST_SECRETS) break;
      secrets.delete(oldest);
    }
    return reference;
  }

  return {
    seal: (value) => mapTexts(value, false, (text, secret) => (secret ? hide(text) : text)),
    unseal: (value) => mapTexts(value, false, (text) => secrets.get(text) ?? text),
  };
}

type TextMap = (text: string, secret: boolean) => string;

function mapTexts<Value>(value: Value, secret: boolean, map: TextMap): Value;
function mapTexts(value: unknown, secret: boolean, map: TextMap): unknown {
  if (typeof value === "string") return map(value, secret);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, secret, map));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      mapTexts(member, secret || isSecret(name, member), map),
    ]),
  );
}

function isSecret(name: string, member: unknown): boolean {
  return typeof member === "string" ? SECRET_MEMBERS.has(name) : SECRET_OBJECTS.has(name);
}
