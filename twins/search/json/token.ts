/** The vendor's name of a JSON value's kind, as its errors tell it. */
export function tokenOf(value: unknown): string {
  if (Array.isArray(value)) return "START_ARRAY";
  if (value === null) return "VALUE_NULL";
  switch (typeof value) {
    case "string":
      return "VALUE_STRING";
    case "boolean":
      return "VALUE_BOOLEAN";
    case "object":
      return "START_OBJECT";
    default:
      return "VALUE_NUMBER";
  }
}
