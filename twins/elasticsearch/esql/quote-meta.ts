/** Escapes a text for use in a regular expression. */
export function quoteMeta(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}
