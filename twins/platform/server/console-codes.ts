/** `POST /console/codes`: one-time codes, which let a link from a terminal open the console without a key in it. */
import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { wallTime } from "../base/clock.ts";
import { getOrAdd } from "../base/get-or-add.ts";
import { readBodyAs } from "../http/errors.ts";
import { type Operation, operation } from "../http/operation.ts";
import { CONSOLE_SECRET_PREFIX } from "../journal/known-secrets.ts";
import type { Owner } from "./organisation-routes.ts";

const CODE_MS = 12 * 3_600_000;
/** Unused codes of one organisation; beyond them the oldest is dropped. */
const MAX_CODES = 100;
/** 32 characters, all of which the journal's mask knows as a secret. */
const CODE_BYTES = 24;

/** The unused codes of all organisations, by their hash. */
export class ConsoleCodes {
  /** By organisation, oldest first. */
  readonly #expiries = new Map<string, Map<string, number>>();

  issue(organisation: string): { code: string; expiresAtMs: number } {
    const code = `${CONSOLE_SECRET_PREFIX}${randomBytes(CODE_BYTES).toString("base64url")}`;
    const expiresAtMs = wallTime() + CODE_MS;
    const codes = getOrAdd(this.#expiries, organisation, () => new Map<string, number>());
    codes.set(hashOf(code), expiresAtMs);
    const [oldest] = codes.keys();
    if (codes.size > MAX_CODES && oldest !== undefined) codes.delete(oldest);
    return { code, expiresAtMs };
  }

  /** Uses a code up. @returns the organisation it was issued to; `undefined` for one that is unknown, used or too old */
  redeem(code: string): string | undefined {
    const hash = hashOf(code);
    for (const [organisation, codes] of this.#expiries) {
      const expiresAtMs = codes.get(hash);
      if (!codes.delete(hash) || expiresAtMs === undefined) continue;
      return expiresAtMs > wallTime() ? organisation : undefined;
    }
    return undefined;
  }
}

function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("base64");
}

/** The address of the console that a code opens. */
export function linkOf(url: string, code: string): string {
  return `${url}?code=${code}`;
}

/** What `POST /console/codes` works on. */
export interface CodesTarget extends Owner {
  codes: ConsoleCodes;
  /** Address of the console. */
  url: string;
}

const noBody = z.strictObject({}).optional();

export const codeOperations: readonly Operation<CodesTarget>[] = [
  operation<CodesTarget>({
    id: "console.code",
    method: "POST",
    path: "/console/codes",
    surface: "rest",
    summary: "A link to the console that signs a browser in once, within 12 hours.",
    maxBodyBytes: 1024,
    secretBody: true,
    handle(request, { codes, organisation, url }) {
      const body = readBodyAs(request, noBody);
      if (!body.ok) return body.response;
      const { code, expiresAtMs } = codes.issue(organisation);
      return {
        status: 201,
        headers: { "cache-control": "no-store" },
        body: { code, url: linkOf(url, code), expires_at: new Date(expiresAtMs).toISOString() },
      };
    },
  }),
];
