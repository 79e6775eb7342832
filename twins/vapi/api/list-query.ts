/** The filters of the vendor's list routes. Source: ListCallsRequest and ListAssistantsRequest of @vapi-ai/server-sdk. */
import { z } from "zod";

const DEFAULT_LIMIT = 100;
const moment = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)), "must be a valid ISO 8601 date string");

const limit = z
  .string()
  .transform((text) => (text.trim() === "" ? Number.NaN : Number(text)))
  .pipe(z.number().min(0).max(1000));

const shared = {
  limit: limit.optional(),
  createdAtGt: moment.optional(),
  createdAtLt: moment.optional(),
  createdAtGe: moment.optional(),
  createdAtLe: moment.optional(),
  updatedAtGt: moment.optional(),
  updatedAtLt: moment.optional(),
  updatedAtGe: moment.optional(),
  updatedAtLe: moment.optional(),
};

export const listAssistantsQuery = z.strictObject(shared);
export const listCallsQuery = z.strictObject({
  ...shared,
  id: z.string().optional(),
  assistantId: z.string().optional(),
  phoneNumberId: z.string().optional(),
});

type ListQuery = z.output<typeof listAssistantsQuery>;

/** Filters rows by time, newest first, up to `limit`. */
export function applyListQuery<Row extends { created_at: string; updated_at: string }>(
  rows: readonly Row[],
  query: ListQuery,
): Row[] {
  return rows
    .filter(
      (row) =>
        within(row.created_at, query.createdAtGt, query.createdAtGe, query.createdAtLt, query.createdAtLe) &&
        within(row.updated_at, query.updatedAtGt, query.updatedAtGe, query.updatedAtLt, query.updatedAtLe),
    )
    .toReversed()
    .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at))
    .slice(0, query.limit ?? DEFAULT_LIMIT);
}

function within(text: string, gt?: string, ge?: string, lt?: string, le?: string): boolean {
  const time = Date.parse(text);
  return (
    (gt === undefined || time > Date.parse(gt)) &&
    (ge === undefined || time >= Date.parse(ge)) &&
    (lt === undefined || time < Date.parse(lt)) &&
    (le === undefined || time <= Date.parse(le))
  );
}
