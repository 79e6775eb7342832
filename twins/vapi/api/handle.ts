/** What every operation of the call API does around its own work: authentication, body reading, the vendor's error shape. */

import { readJson } from "@offhook/platform/base/json";
import type { Operation, VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import type { z } from "zod";
import type { VoiceRuntimeTwin } from "../twin.ts";
import { refuseStranger } from "./authenticate.ts";
import { failure, VendorFailure } from "./errors.ts";
import { check } from "./whitelist.ts";

type Declaration = Operation<VoiceRuntimeTwin>;

/** An operation that needs a key. */
export function guarded(declaration: Declaration): Declaration {
  return open({
    ...declaration,
    handle(request, twin) {
      return refuseStranger(request, twin.world) ?? declaration.handle(request, twin);
    },
  });
}

/** An operation whose address is the secret; it throws `VendorFailure` for what it refuses. */
export function open(declaration: Declaration): Declaration {
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

/** The body as JSON; an absent body is `{}`, as the vendor's body parser has it. @throws VendorFailure */
export function readJsonBody(request: VendorRequest): unknown {
  const reading = readJson(request.body);
  if (!reading.ok) throw failure(400, reading.message);
  return reading.value ?? {};
}

/** The body checked against a schema. @throws VendorFailure listing everything that is wrong */
export function readBody<Output>(request: VendorRequest, schema: z.ZodType<Output>): Output {
  return demand(schema, readJsonBody(request));
}

/** The query string checked against a schema. @throws VendorFailure */
export function readQuery<Output>(request: VendorRequest, schema: z.ZodType<Output>): Output {
  return demand(schema, Object.fromEntries(request.query));
}

function demand<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const checked = check(schema, value);
  if (!checked.ok) throw failure(400, checked.messages);
  return checked.value;
}
