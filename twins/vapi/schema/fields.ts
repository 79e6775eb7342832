/** Kinds of members that the schemas share. */
import { z } from "zod";

/** A member class-validator treats as optional: absent or null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish();
}

/** A number within bounds, as `@IsNumber() @Min() @Max()` checks it. */
export function bounded(min: number, max: number) {
  return z.number().min(min).max(max);
}
