/**
 * Names as segments of addresses. In splunkd's links a slash of a name is encoded twice (`%252F`), so that clients which decode a link
 * once before they ask for it (the Python SDK does) still ask for one segment; and in the path of a request a plus is a space.
 * Source: `splunklib.binding.UrlEncoded`, `splunklib.client.Collection._entity_path`
 */

/** A name as a link has it. What would read as an encoded slash, and is none, is encoded once more. */
export function segmentOf(name: string): string {
  return encodeURIComponent(name.replace(/%(?=(?:25)*2F)/gi, "%25").replaceAll("/", "%2F"));
}

/** The name that a segment of a path means, whether its slashes are encoded once or twice. @throws URIError */
export function nameOfSegment(segment: string): string {
  const decoded = decodeURIComponent(segment.replaceAll("+", " "));
  return decoded.replace(/%(25)?((?:25)*2F)/gi, (_, again, rest) => (again === undefined ? "/" : `%${rest}`));
}

/** The names at the `:name` segments of a route's path. */
export function namesInPath(pattern: string, path: string): Record<string, string> {
  const segments = path.split("/");
  return Object.fromEntries(
    pattern
      .split("/")
      .flatMap((part, index) =>
        part.startsWith(":") ? [[part.slice(1), nameOfSegment(segments[index] ?? "")]] : [],
      ),
  );
}
