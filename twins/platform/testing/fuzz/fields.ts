/** What the log dataset of the fuzzer has: its fields, their values and words of its texts. */
import fc from "fast-check";
import { hostileString, words } from "./text.ts";

export const keywordField = words(
  "service.name log.level host.name trace.id url.path http.request.method tags",
);
export const numberField = words("http.response.status_code event.duration");
export const textField = words("message error.message");
export const timeField = fc.constant("@timestamp");

export const field = fc.oneof(
  { weight: 3, arbitrary: keywordField },
  { weight: 2, arbitrary: numberField },
  { weight: 2, arbitrary: textField },
  { weight: 2, arbitrary: timeField },
  { weight: 1, arbitrary: keywordField.map((name) => `${name}.keyword`) },
  { weight: 1, arbitrary: words("nope service http.* * _id _index _source _score a.b.c") },
  { weight: 1, arbitrary: hostileString },
);

export const time = fc.oneof(
  fc.constantFrom("2026-01-30T09:00:02.243Z", "2026-01-30", "2026-01-30T09:10:00+02:00", "1769763602243"),
  fc.constantFrom("now-1h", "now/d", "2026-01-30||+1h/d", "2026-13-45", "9999-12-31T23:59:59Z", "-1", "0"),
);

export const phrase = fc.oneof(
  fc.constantFrom("checkout", "answered 200", "pool exhausted", "GET /api", "error upstream", "info", "the"),
  fc.constantFrom("checkout-2", "*", "ch*t", "c?eckout", "a AND b", "200", "ü", "answered answered", "-x"),
  hostileString,
);
