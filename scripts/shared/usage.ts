/** The command line is not understood; the message says why, and what there is. */
export class UsageError extends Error {
  override name = "UsageError";
}
