/**
 * The model server of an assistant's own (`model.provider: custom-llm`), asked as the vendor asks it: `/chat/completions`
 * below `model.url`, with the key of a custom-llm credential and what `metadataSendMode` says of the call.
 * Source: CustomLlmModel of @vapi-ai/server-sdk; https://docs.vapi.ai/customization/custom-llm/using-your-server
 */

import type { Endpoint } from "@offhook/platform/openai/http";
import type { CustomLlm } from "../providers/choose.ts";
import type { Assistant } from "../schema/assistant.ts";
import { USER_AGENT } from "../webhooks/server.ts";

const DEFAULT_TIMEOUT_SECONDS = 20;
/** The vendor's guides give the address with it and without it. */
const COMPLETIONS = "/chat/completions";

/** What a model server is told of its call. */
export interface ToldCall {
  call: object;
  customer?: unknown;
}

/** @param told the call as it is when the model is asked; `undefined` for an assistant with a model of another kind */
export function customLlmOf(
  { model, metadata, credentials }: Assistant,
  told: () => ToldCall,
): CustomLlm | undefined {
  if (model?.provider !== "custom-llm" || !model.url) return undefined;
  const mode = model.metadataSendMode ?? "variable";
  const own = metadata ?? {};
  return {
    endpoint: {
      baseUrl: baseUrl(model.url),
      key: keyIn(credentials ?? []),
      // 0 would leave no time at all.
      timeoutMs: (model.timeoutSeconds || DEFAULT_TIMEOUT_SECONDS) * 1000,
      headers: { "user-agent": USER_AGENT, ...withoutAuthorization(model.headers ?? {}) },
    } satisfies Endpoint,
    endedReason: (status) => `pipeline-error-custom-llm-${failureOf(status)}`,
    members() {
      if (mode === "off") return {};
      return { ...(mode === "variable" ? { metadata: own } : own), ...told() };
    },
  };
}

/** Source: CallEndedReason of @vapi-ai/server-sdk; `pipeline-error` are the failures of what is the customer's own. */
function failureOf(status: number | undefined): string {
  if (status === undefined) return "llm-failed";
  return namedFailures.get(status) ?? (status >= 500 ? "500-server-error" : "llm-failed");
}

const namedFailures = new Map([
  [400, "400-bad-request-validation-failed"],
  [401, "401-unauthorized"],
  [403, "403-model-access-denied"],
  [429, "429-exceeded-quota"],
  [503, "503-server-overloaded-error"],
]);

function baseUrl(url: string): string {
  const plain = url.replace(/(?<!\/)\/+$/, "");
  return plain.endsWith(COMPLETIONS) ? plain.slice(0, -COMPLETIONS.length) : plain;
}

function keyIn(credentials: NonNullable<Assistant["credentials"]>): string | undefined {
  const key = credentials.find(({ provider }) => provider === "custom-llm")?.apiKey;
  return typeof key === "string" && key !== "" ? key : undefined;
}

/** The vendor takes that from a credential alone. */
function withoutAuthorization(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== "authorization"),
  );
}
