/**
 * Keeps the secrets of assistants out of the world. Sealing replaces header values, webhook secrets and credentials by
 * references that only this process can resolve. A snapshot therefore carries no secret, and loading it into the same
 * process restores them all.
 */
import { createHmac, randomBytes } from "node:crypto";

const MAX_SECRETS = 20_000;
const PREFIX = "sealed:";

/** Members whose text is a secret at any depth. */
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
      if (secrets.size <= MAX_SECRETS) break;
      secrets.delete(oldest);
    }
    return reference;
  }

  return {
    seal: (value) => mapTexts(value, (text, kind) => (kind === "secret" ? hide(text) : text)),
    unseal: (value) => mapTexts(value, (text) => secrets.get(text) ?? text),
  };
}

type TextKind = "plain" | "secret";
type TextMap = (text: string, kind: TextKind) => string;

/** @param kind of the texts in `value`; texts inside a secret member are secret too */
function mapTexts<Value>(value: Value, map: TextMap, kind?: TextKind): Value;
function mapTexts(value: unknown, map: TextMap, kind: TextKind = "plain"): unknown {
  if (typeof value === "string") return map(value, kind);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map, kind));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      mapTexts(member, map, isSecret(name, member) ? "secret" : kind),
    ]),
  );
}

function isSecret(name: string, member: unknown): boolean {
  return typeof member === "string" ? SECRET_MEMBERS.has(name) : SECRET_OBJECTS.has(name);
}
