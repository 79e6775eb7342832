/** Splits an Authorization header (`Splunk <key>`) into its scheme, in lower case, and its credentials; absent parts are empty. */
export function readAuthorization(header: string): { scheme: string; credentials: string } {
  const given = header.trim();
  const blank = given.search(/\s/);
  if (blank === -1) return { scheme: given.toLowerCase(), credentials: "" };
  return { scheme: given.slice(0, blank).toLowerCase(), credentials: given.slice(blank).trim() };
}
