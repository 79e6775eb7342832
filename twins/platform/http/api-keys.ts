/** The keys of the control plane: kept as hashes, compared in constant time. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { isName } from "./address.ts";

export interface ApiKeys {
  /** The organisation a key belongs to; `undefined` for a missing or unknown key. */
  organisationOf(key: string | undefined): string | undefined;
}

/** A configured key: its organisation and its hash. */
export interface KeyEntry {
  organisation: string;
  /** SHA-256 of the key, in hexadecimal. */
  sha256: string;
}

/** The organisation when none is configured. */
export const LOCAL_ORGANISATION = "local";

/** Separates the organisation from the sandbox's name in an id; no name contains it. */
export const NAME_SEPARATOR = "--";

const HASH_PREFIX = "sha256:";

/** An organisation's name, which is part of addresses. */
export const organisationName = z
  .string()
  .max(30, "must have at most 30 characters")
  .refine(isPlainName, "must hold only a-z, 0-9, _ and single - between them");

/** `sha256:` and the 64 hexadecimal digits of a key's hash. */
export const keyHash = z
  .string()
  .refine(
    (text) => text.startsWith(HASH_PREFIX) && isHash(text.slice(HASH_PREFIX.length)),
    "must be sha256: and the 64 hexadecimal digits of the key's SHA-256; the key itself is not kept",
  )
  .transform((text) => text.slice(HASH_PREFIX.length).toLowerCase());

export function createApiKeys(keys: readonly KeyEntry[]): ApiKeys {
  const known = keys.map(({ organisation, sha256: hash }) => ({
    organisation,
    hash: Buffer.from(hash, "hex"),
  }));
  return {
    organisationOf(key) {
      const hash = sha256(key ?? "");
      let organisation: string | undefined;
      // Compares every key, so that the time taken reveals nothing.
      for (const candidate of known) {
        if (timingSafeEqual(candidate.hash, hash)) organisation = candidate.organisation;
      }
      return key ? organisation : undefined;
    },
  };
}

/**
 * Reads `SANDBOX_API_KEYS`: `organisation=sha256:<hex>`, separated by commas.
 * @throws Error naming the wrong entry, without repeating a key that was given in plain text.
 */
export function readKeyVariable(text: string): KeyEntry[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part, index) => {
      const equals = part.indexOf("=");
      const name = organisationName.safeParse(part.slice(0, Math.max(equals, 0)));
      const hash = keyHash.safeParse(part.slice(equals + 1));
      if (name.success && hash.success) return { organisation: name.data, sha256: hash.data };
      const rule = (name.success ? hash : name).error?.issues[0]?.message;
      throw new Error(`SANDBOX_API_KEYS: entry ${index + 1} (organisation=sha256:…): ${rule}`);
    });
}

/** The entry of a key in plain text. */
export function keyEntry(organisation: string, key: string): KeyEntry {
  return { organisation, sha256: sha256(key).toString("hex") };
}

/** A new random key. */
export function makeApiKey(): string {
  return `sandbox_${randomBytes(24).toString("base64url")}`;
}

/** Whether a name can be joined to another by `NAME_SEPARATOR` without ambiguity. */
export function isPlainName(text: string): boolean {
  return isName(text) && !text.includes(NAME_SEPARATOR) && !text.startsWith("-") && !text.endsWith("-");
}

function isHash(text: string): boolean {
  return text.length === 64 && Buffer.from(text, "hex").length === 32;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
