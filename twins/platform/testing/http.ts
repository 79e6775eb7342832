/** One HTTP request and its answer, for tests. */

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; `undefined` when it is not JSON. */
  body: ReturnType<typeof JSON.parse>;
}

/** Sends a request; an object body goes as JSON, text and bytes as they are. */
export async function request(
  method: string,
  url: string,
  options: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const { body } = options;
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    headers: options.headers ?? {},
    ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

function parse(text: string): Answer["body"] {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
