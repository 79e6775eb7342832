/** Parses a stream of Server-Sent Events. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */

const MAX_EVENT_CHARACTERS = 1024 * 1024;

/** The `data` of each event. @throws RangeError for an event longer than 1 MiB */
export async function* readEventData(
  chunks: AsyncIterable<Uint8Array>,
  alive: () => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  for await (const chunk of chunks) {
    alive();
    rest += decoder.decode(chunk, { stream: true });
    if (rest.length > MAX_EVENT_CHARACTERS) throw new RangeError("an event is longer than 1 MiB");
    for (let end = lineEnd(rest); end; end = lineEnd(rest)) {
      const line = rest.slice(0, end.at);
      rest = rest.slice(end.next);
      if (line === "") {
        if (data.length > 0) yield data.join("\n");
        data = [];
      } else if (line.startsWith("data:")) {
        data.push(line.startsWith("data: ") ? line.slice(6) : line.slice(5));
      }
    }
  }
  if (data.length > 0) yield data.join("\n");
}

/** The end of the first line; `undefined` after a trailing CR, whose LF may still follow. */
function lineEnd(text: string): { at: number; next: number } | undefined {
  const lf = text.indexOf("\n");
  const cr = text.indexOf("\r");
  if (cr >= 0 && (lf < 0 || cr < lf)) {
    if (cr === text.length - 1) return undefined;
    return { at: cr, next: text[cr + 1] === "\n" ? cr + 2 : cr + 1 };
  }
  return lf < 0 ? undefined : { at: lf, next: lf + 1 };
}
