/** Arbitraries of the fields that the documents have, and of what a query says of them. */

import { list, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";
import { client, host, level, service, tag, title, word } from "./documents.ts";

export const textField = words("message title");
/** `service` is a keyword where mappings are explicit, and a text where they are dynamic. */
export const keywordField = words(
  "level.keyword host.keyword tags.keyword user.name.keyword title.keyword service",
);
export const numberField = words("code took sizes user.age status rank bytes ratio load");
export const dateField = fc.oneof(
  { weight: 4, arbitrary: fc.constant("at") },
  { weight: 1, arbitrary: fc.constant("day") },
);
export const booleanField = words("ok active");
export const unmappedField = words("nope user message.nope");

/** A word as a query has it. */
export const queryWord = fc.oneof(
  { weight: 6, arbitrary: word },
  { weight: 1, arbitrary: words("nothing eror timeot chekout errors pools web") },
);
export const phrase = list(queryWord, " ", { min: 1, max: 4 });
export const keywordValue = fc.oneof(level, tag, host, service, client, words("ada bob nobody"), title);
export const numberValue = fc.oneof<fc.Arbitrary<unknown>[]>(
  fc.constantFrom(200, 404, 500, 0, -1, 5, 30, 50),
  fc.constantFrom(12.5, 0.5, -0.25, 200.5),
  fc.constantFrom("200", "12.5"),
);
export const dateValue = fc.oneof<fc.Arbitrary<unknown>[]>(
  fc.constantFrom("2026-02-01", "2026-02-01T12:00:00Z", "2026-02-01T12:00:00.500+02:00", "2026-02", "2026"),
  fc.constantFrom("2026-02-01||+3d/d", "2026-02-10||/M", "2026-02-10T10:00:00||-1h", "now", "now-10y/y"),
  fc.constantFrom(1_769_904_000_000, "1769904000000", "03.02.2026", "03.02.2026||+1M/d"),
);

/** A field with a value of its kind. */
export const fieldAndValue: fc.Arbitrary<[field: string, value: unknown]> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(textField, queryWord) },
  { weight: 4, arbitrary: fc.tuple(keywordField, keywordValue) },
  { weight: 3, arbitrary: fc.tuple(numberField, numberValue) },
  { weight: 2, arbitrary: fc.tuple(dateField, dateValue) },
  {
    weight: 1,
    arbitrary: fc.tuple(booleanField, fc.constantFrom<unknown>(true, false, "true", "false", "")),
  },
  { weight: 1, arbitrary: fc.tuple(unmappedField, queryWord) },
);
export const anyField = fieldAndValue.map(([field]) => field);
