/** `Splunk <key>`: the scheme of an Authorization header in lower case, and what follows it; both empty where there is nothing. */
export function readAuthorization(header: string): { scheme: string; credentials: string } {
  const given = header.trim();
  const blank = given.search(/\s/);
  if (blank === -1) return { scheme: given.toLowerCase(), credentials: "" };
  return { scheme: given.slice(0, blank).toLowerCase(), credentials: given.slice(blank).trim() };
}
