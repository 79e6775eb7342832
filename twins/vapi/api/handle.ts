/** Shared by every operation of the call API: authentication, reading the body, the vendor's error shape. */

import { readJson } from "@offhook/platform/base/json";
import type { Operation, VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import type { z } from "zod";
import type { VoiceWorld } from "../calls/call-store.ts";
import type { VoiceRuntimeTwin } from "../twin.ts";
import { keyHash } from "../world.ts";
import { failure, INVALID_KEY, NO_USER_AGENT, VendorFailure, vendorError } from "./errors.ts";
import { check } from "./whitelist.ts";

type Declaration = Operation<VoiceRuntimeTwin>;

/** An operation that needs a key. */
export function authenticatedOperation(declaration: Declaration): Declaration {
  return openOperation({
    ...declaration,
    handle(request, twin) {
      return authenticate(request, twin.world) ?? declaration.handle(request, twin);
    },
  });
}

/**
 * Admits requests with a User-Agent and a bearer key that the world lists.
 * @returns the refusal; `undefined` for a request that is admitted
 */
function authenticate(request: VendorRequest, world: VoiceWorld): VendorResponse | undefined {
  if (!request.headers["user-agent"]) return NO_USER_AGENT;
  return hasKnownKey(request, world) ? undefined : vendorError(401, INVALID_KEY);
}

/** Whether a request has a bearer key that the world lists. */
export function hasKnownKey({ headers }: VendorRequest, world: VoiceWorld): boolean {
  const key = bearerKey(headers.authorization);
  return key !== undefined && world.table("api_keys").find({ key_sha256: keyHash(key) }).length > 0;
}

function bearerKey(header: string | undefined): string | undefined {
  const [scheme, key, ...rest] = header?.trim().split(/\s+/) ?? [];
  return scheme?.toLowerCase() === "bearer" && rest.length === 0 ? key : undefined;
}

/** An operation without a key, because its address is the secret. Answers a thrown `VendorFailure`. */
export function openOperation(declaration: Declaration): Declaration {
  return {
    ...declaration,
    async handle(request, twin): Promise<VendorResponse> {
      try {
        return await declaration.handle(request, twin);
      } catch (error) {
        if (error instanceof VendorFailure) return error.response;
        throw error;
      }
    },
  };
}

/** The body as JSON; an absent body is `{}`, as in the vendor's body parser. @throws VendorFailure */
export function readJsonBody(request: VendorRequest): unknown {
  const reading = readJson(request.body);
  if (!reading.ok) throw failure(400, reading.message);
  return reading.value ?? {};
}

/** The body validated against a schema. @throws VendorFailure listing every problem */
export function readBody<Output>(request: VendorRequest, schema: z.ZodType<Output>): Output {
  return validate(schema, readJsonBody(request));
}

/** The query string validated against a schema. @throws VendorFailure */
export function readQuery<Output>(request: VendorRequest, schema: z.ZodType<Output>): Output {
  return validate(schema, Object.fromEntries(request.query));
}

function validate<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const checked = check(schema, value);
  if (!checked.ok) throw failure(400, checked.messages);
  return checked.value;
}
