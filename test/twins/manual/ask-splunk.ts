/** Requests to the log-query twin, for the proofs of what it says of itself. */
import { request } from "@offhook/platform/testing/http";

export const JOBS = "/services/search/jobs";
export const form = { "content-type": "application/x-www-form-urlencoded" };

/** A request for JSON; parameters go as a form. */
export const askedWith =
  (authorization: string) =>
  (method: string, address: string, parameters: Record<string, string> = {}) => {
    const mark = address.includes("?") ? "&" : "?";
    return request(method, `${address}${mark}output_mode=json`, {
      headers: { authorization, ...form },
      ...(method === "GET" ? {} : { body: new URLSearchParams(parameters).toString() }),
    });
  };

/** With the seeded token. */
export const asAdmin = askedWith("Bearer splunk-twin-token");
