/** `limit` and `offset` of a paged read. */
import { z } from "zod";

export const MAX_LIMIT = 1000;
export const DEFAULT_LIMIT = 100;

const wholeNumber = z
  .string()
  .refine((text) => text !== "" && Number.isSafeInteger(Number(text)) && Number(text) >= 0, {
    message: "must be a whole number, 0 or more",
  })
  .transform(Number);

/** Query parameters every paged read takes. */
export const pageParameters = {
  limit: wholeNumber
    .refine((limit) => limit <= MAX_LIMIT, { message: `must be at most ${MAX_LIMIT}; page with offset` })
    .default(DEFAULT_LIMIT),
  offset: wholeNumber.default(0),
};

export { wholeNumber };
