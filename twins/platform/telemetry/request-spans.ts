/** Server spans of the requests to a twin. A twin continues traces and begins none, so that polling makes no spans. */
import { type Attributes, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { ATTR_ERROR_TYPE, ATTR_HTTP_RESPONSE_STATUS_CODE } from "@opentelemetry/semantic-conventions";
import type { Carrier, Telemetry } from "./telemetry.ts";

/** Home-made attributes; twins/README.md explains them. */
const ATTR_SANDBOX = "offhook.sandbox";
const ATTR_TWIN = "offhook.twin";
const ATTR_OPERATION = "offhook.operation";
const ATTR_FAULT = "offhook.fault";

/** What a request is, in the words of the semantic conventions. Nothing in it may be secret. */
export interface SpanDescription {
  name: string;
  attributes: Attributes;
}

interface TracedRequest {
  operation: string | null;
  headers: Carrier;
  /** Called only for a request that is traced. */
  span?: (() => SpanDescription) | undefined;
}

interface TracedAnswer {
  /** `null`: the connection ended without an answer. */
  status: number | null;
  fault?: string | undefined;
}

export class RequestSpans {
  readonly #telemetry: Telemetry;
  readonly #common: Attributes;

  constructor(telemetry: Telemetry, of: { sandbox: string; twin: string }) {
    this.#telemetry = telemetry;
    this.#common = { [ATTR_SANDBOX]: of.sandbox, [ATTR_TWIN]: of.twin };
  }

  /** Starts the span of a request that continues a trace. @returns ends it; `undefined`: the request is not traced */
  begin({ operation, headers, span: describe }: TracedRequest): ((answer: TracedAnswer) => void) | undefined {
    if (!this.#telemetry.isOn || headers.traceparent === undefined || describe === undefined)
      return undefined;
    const { name, attributes } = describe();
    const span = this.#telemetry.tracer.startSpan(
      name,
      {
        kind: SpanKind.SERVER,
        attributes: { ...attributes, ...this.#common, ...(operation ? { [ATTR_OPERATION]: operation } : {}) },
      },
      this.#telemetry.extract(headers),
    );
    return ({ status, fault }) => {
      if (status !== null) span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status);
      if (fault !== undefined) span.setAttribute(ATTR_FAULT, fault);
      if (status === null || status >= 500) {
        span.setAttribute(ATTR_ERROR_TYPE, status === null ? "disconnected" : String(status));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    };
  }
}
