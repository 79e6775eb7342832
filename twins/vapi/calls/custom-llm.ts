/**
 * An assistant's own model server (`model.provider: custom-llm`), requested as the vendor does: `/chat/completions` below
 * `model.url`, with the key of a custom-llm credential, and with the call as `metadataSendMode` says.
 * Source: CustomLlmModel of @vapi-ai/server-sdk; https://docs.vapi.ai/customization/custom-llm/using-your-server
 */

import type { Endpoint } from "@offhook/platform/openai/http";
import type { CustomLlm } from "../providers/choose.ts";
import type { Assistant } from "../schema/assistant.ts";
import { USER_AGENT } from "../webhooks/server.ts";

const DEFAULT_TIMEOUT_SECONDS = 20;
/** The vendor's guides write `model.url` both with and without it. */
const COMPLETIONS = "/chat/completions";

/** What a model server learns about its call. */
export interface ModelCallInfo {
  call: object;
  customer?: unknown;
}

/**
 * @param callInfo the call at the time of the request
 * @returns `undefined` for an assistant with another kind of model
 */
export function customLlmOf(
  { model, metadata, credentials }: Assistant,
  callInfo: () => ModelCallInfo,
): CustomLlm | undefined {
  if (model?.provider !== "custom-llm" || !model.url) return undefined;
  const mode = model.metadataSendMode ?? "variable";
  const own = metadata ?? {};
  return {
    endpoint: {
      baseUrl: baseUrl(model.url),
      key: credentialKey(credentials ?? []),
      // `||`: a timeout of 0 means the default.
      timeoutMs: (model.timeoutSeconds || DEFAULT_TIMEOUT_SECONDS) * 1000,
      headers: { "user-agent": USER_AGENT, ...withoutAuthorization(model.headers ?? {}) },
    } satisfies Endpoint,
    endedReason: (status) => `pipeline-error-custom-llm-${failureReason(status)}`,
    members() {
      if (mode === "off") return {};
      return { ...(mode === "variable" ? { metadata: own } : own), ...callInfo() };
    },
  };
}

/** Source: CallEndedReason of @vapi-ai/server-sdk; `pipeline-error` reasons are failures of the customer's own servers. */
function failureReason(status: number | undefined): string {
  if (status === undefined) return "llm-failed";
  return FAILURES_BY_STATUS.get(status) ?? (status >= 500 ? "500-server-error" : "llm-failed");
}

const FAILURES_BY_STATUS = new Map([
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

function credentialKey(credentials: NonNullable<Assistant["credentials"]>): string | undefined {
  const key = credentials.find(({ provider }) => provider === "custom-llm")?.apiKey;
  return typeof key === "string" && key !== "" ? key : undefined;
}

/** The vendor takes the authorization from a credential only. */
function withoutAuthorization(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() !== "authorization"),
  );
}
