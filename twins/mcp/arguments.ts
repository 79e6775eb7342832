/** Arguments that several tools take. */
import { z } from "zod";

const MAX_LIMIT = 200;
const MAX_TEXT = 20_000;

export const twinName = z.string().min(1).describe("Name of a twin, as list_twins answers it");

/** Paging of a list. */
export const paging = {
  limit: z.int().min(1).max(MAX_LIMIT).default(50).describe("Most entries to answer"),
  offset: z.int().min(0).default(0).describe("Entries to skip: next_offset of the answer before"),
};

/** Paging of an answer's list. */
export const paged = {
  total: z.number().describe("Entries there are"),
  next_offset: z.number().nullable().describe("offset of the next page; null: there is none"),
};

/** Longer values are answered as `{excerpt, characters}`. */
export const maxText = z
  .int()
  .min(100)
  .max(MAX_TEXT)
  .default(2_000)
  .describe("Values longer than so many characters are cut to {excerpt, characters}");

export const isoTime = z.iso
  .datetime({ offset: true, error: "must be an ISO time such as 2026-01-31T09:00:00Z" })
  .describe("ISO time, such as 2026-01-31T09:00:00Z");

/** An object of the control plane that is passed on as it is. */
export const anyObject = z.looseObject({});
