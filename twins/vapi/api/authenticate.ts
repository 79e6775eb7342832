/** Admits requests with a bearer key that the world lists and a User-Agent. */
import type { VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import type { VoiceWorld } from "../calls/call-store.ts";
import { keyHash } from "../world.ts";
import { INVALID_KEY, NO_USER_AGENT, vendorError } from "./errors.ts";

/** @returns the refusal; `undefined` for a request that is admitted */
export function authenticate(request: VendorRequest, world: VoiceWorld): VendorResponse | undefined {
  if (!request.headers["user-agent"]) return NO_USER_AGENT;
  const key = bearerKey(request.headers.authorization);
  const known = key !== undefined && world.table("api_keys").find({ key_sha256: keyHash(key) }).length > 0;
  return known ? undefined : vendorError(401, INVALID_KEY);
}

function bearerKey(header: string | undefined): string | undefined {
  const [scheme, key, ...rest] = header?.trim().split(/\s+/) ?? [];
  return scheme?.toLowerCase() === "bearer" && rest.length === 0 ? key : undefined;
}
