/**
 * Responses of the event collector, by code. Source: the vendor's servers for codes 0 to 17 and 28, its table of error codes for the
 * texts of 18 to 27.
 */
import type { VendorResponse } from "@offhook/platform/http/operation";

const codes = {
  success: [0, 200, "Success"],
  tokenDisabled: [1, 403, "Token disabled"],
  tokenRequired: [2, 401, "Token is required"],
  invalidAuthorization: [3, 401, "Invalid authorization"],
  invalidToken: [4, 403, "Invalid token"],
  noData: [5, 400, "No data"],
  invalidFormat: [6, 400, "Invalid data format"],
  incorrectIndex: [7, 400, "Incorrect index"],
  internalError: [8, 500, "Internal server error"],
  busy: [9, 503, "Server is busy"],
  channelMissing: [10, 400, "Data channel is missing"],
  channelInvalid: [11, 400, "Invalid data channel"],
  eventRequired: [12, 400, "Event field is required"],
  eventBlank: [13, 400, "Event field cannot be blank"],
  ackDisabled: [14, 400, "ACK is disabled"],
  indexedFields: [15, 400, "Error in handling indexed fields"],
  queryDisabled: [16, 400, "Query string authorization is not enabled"],
  healthy: [17, 200, "HEC is healthy"],
  queuesFull: [18, 503, "HEC is unhealthy, queues are full"],
  ackUnavailable: [19, 503, "HEC is unhealthy, ack service unavailable"],
  queuesFullAckUnavailable: [20, 503, "HEC is unhealthy, queues are full, ack service unavailable"],
  healthInvalidToken: [21, 400, "Invalid token"],
  healthTokenDisabled: [22, 400, "Token disabled"],
  shuttingDown: [23, 503, "Server is shutting down"],
  queueNearlyFull: [24, 200, "HEC queue is approaching its capacity limit"],
  channelsNearlyFull: [25, 200, "HEC ACK is approaching its capacity limit"],
  queueFull: [26, 429, "HEC queue is at capacity and cannot process any more requests"],
  channelsFull: [27, 429, "HEC ACK channel is at capacity and cannot process any more requests"],
  notSticky: [
    28,
    400,
    "Data channel is missing. If you have multiple indexers, sticky session load balancers must be provisioned and client requests must be routed accordingly.",
  ],
} as const satisfies Record<string, readonly [code: number, status: number, text: string]>;

export type CollectorCode = keyof typeof codes;

/** The collector refuses a request, or one of its events. */
export class CollectorRefusal extends Error {
  readonly code: CollectorCode;
  /** Number of the refused event, from 0. */
  readonly event: number | undefined;
  constructor(code: CollectorCode, event?: number) {
    super(codes[code][2]);
    this.name = "CollectorRefusal";
    this.code = code;
    this.event = event;
  }
}

const COLLECTOR_JSON = "application/json; charset=UTF-8";

/** Makes the response of a code. @param more members beside text and code */
export function codeResponse(
  name: CollectorCode,
  more: Readonly<Record<string, unknown>> = {},
): VendorResponse {
  const [code, status, text] = codes[name];
  return jsonResponse(status, { text, code, ...more });
}

export function refusalResponse({ code, event }: CollectorRefusal): VendorResponse {
  return codeResponse(code, event === undefined ? {} : { "invalid-event-number": event });
}

export function jsonResponse(status: number, body: object): VendorResponse {
  return { status, headers: { "content-type": COLLECTOR_JSON }, body: JSON.stringify(body) };
}

/** The response to an unknown path or method. */
export function notFoundResponse(status: 404 | 405): VendorResponse {
  return jsonResponse(status, { text: "The requested URL was not found on this server.", code: 404 });
}

/** The response of an injected fault. */
export function faultResponse(status: number): VendorResponse {
  const name = byStatus[status];
  return name === undefined ? jsonResponse(status, { text: "Fault", code: status }) : codeResponse(name);
}

const byStatus: Record<number, CollectorCode> = {
  400: "invalidFormat",
  401: "invalidAuthorization",
  403: "invalidToken",
  429: "queueFull",
  500: "internalError",
  503: "busy",
};
