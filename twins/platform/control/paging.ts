/** `limit` and `offset` of a paged read. */
import { z } from "zod";

export const MAX_LIMIT = 1000;
const DEFAULT_LIMIT = 100;

/** Digits only: `Number` would also accept `1e2`, `0x10` and blanks. */
export const wholeNumber = z
  .string()
  .regex(/^[0-9]+$/, { error: "must be a whole number, 0 or more, in digits", abort: true })
  .transform(Number)
  .refine(Number.isSafeInteger, { error: `must be at most ${Number.MAX_SAFE_INTEGER}`, abort: true });

/** Query parameters of every paged read. */
export const pageParameters = {
  limit: wholeNumber
    .refine((limit) => limit <= MAX_LIMIT, { message: `must be at most ${MAX_LIMIT}; page with offset` })
    .default(DEFAULT_LIMIT),
  offset: wholeNumber.default(0),
};
