/** The text as a regular expression that matches it and nothing else. */
export function quoteMeta(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}
