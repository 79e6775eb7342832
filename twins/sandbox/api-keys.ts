/** The keys of the control plane: kept as hashes, compared in constant time. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export interface ApiKeys {
  /** The organisation a key belongs to; `undefined` for a missing or unknown key. */
  organisationOf(key: string | undefined): string | undefined;
}

/** The organisation of a laptop that has configured none. */
export const LOCAL_ORGANISATION = "local";

/** @param keys a key of each organisation. */
export function createApiKeys(keys: Record<string, string>): ApiKeys {
  const known = Object.entries(keys).map(([organisation, key]) => ({ organisation, hash: sha256(key) }));
  return {
    organisationOf(key) {
      const hash = sha256(key ?? "");
      let organisation: string | undefined;
      // Every key is compared, so that the time taken tells nothing about which one was close.
      for (const candidate of known) {
        if (timingSafeEqual(candidate.hash, hash)) organisation = candidate.organisation;
      }
      return key ? organisation : undefined;
    },
  };
}

/** A new random key. */
export function makeApiKey(): string {
  return `sandbox_${randomBytes(24).toString("base64url")}`;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
