/** Field helpers of the schemas, after the class-validator decorators of the vendor's bodies. */
import { z } from "zod";

/** `@IsOptional()`: absent or null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish();
}

/** `@IsNumber() @Min() @Max()`. */
export function bounded(min: number, max: number) {
  return z.number().min(min).max(max);
}
