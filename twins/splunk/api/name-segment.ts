/**
 * Names as segments of addresses. In splunkd's links a slash of a name is encoded twice (`%252F`), so that a client which decodes a link
 * before it requests it, as the Python SDK does, still requests one segment. In the path of a request, a plus is a space.
 * Source: `splunklib.binding.UrlEncoded`, `splunklib.client.Collection._entity_path`
 */

/** Encodes a name for a link. Text that looks like an encoded slash is encoded once more. */
export function segmentOf(name: string): string {
  return encodeURIComponent(name.replace(/%(?=(?:25)*2F)/gi, "%25").replaceAll("/", "%2F"));
}

/** Decodes a segment of a path, whether its slashes are encoded once or twice. @throws URIError */
export function nameOfSegment(segment: string): string {
  const decoded = decodeURIComponent(segment.replaceAll("+", " "));
  return decoded.replace(/%(25)?((?:25)*2F)/gi, (_, again, rest) => (again === undefined ? "/" : `%${rest}`));
}

/** Decodes the `:name` segments of a route's path. */
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
