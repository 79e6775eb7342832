/** A webhook destination as the vendor's `Server` object describes it. Source: `Server` and `BackoffPlan` of @vapi-ai/server-sdk. */
import { z } from "zod";
import { bounded, optional } from "./fields.ts";

const backoffPlanSchema = z.strictObject({
  type: z.enum(["fixed", "exponential"]).default("fixed"),
  maxRetries: bounded(0, 10).default(0),
  baseDelaySeconds: bounded(0, 10).default(1),
  excludedStatusCodes: optional(z.array(z.number())),
});

/** An address that the twin requests on behalf of a client. */
export const outboundUrl = z.url({ protocol: /^https?$/ });

export const serverSchema = z.strictObject({
  url: optional(outboundUrl),
  timeoutSeconds: optional(bounded(1, 300)),
  credentialId: optional(z.string()),
  staticIpAddressesEnabled: optional(z.boolean()),
  encryptedPaths: optional(z.array(z.string())),
  headers: optional(z.record(z.string(), z.string())),
  backoffPlan: optional(backoffPlanSchema),
  /** Gone from the vendor's schema, but still accepted and sent as `X-Vapi-Secret`. */
  secret: optional(z.string()),
});

export type Server = z.output<typeof serverSchema>;
