/** A request as the fuzzer makes it, and how it is sent. */
import http from "node:http";

export interface FuzzRequest {
  method: string;
  /** From the base address of its target, with the query. */
  path: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
  tookMs: number;
}

/** An answer that is longer is read to its end and cut. */
export const MAX_KEPT_CHARS = 4_000_000;
/** Of a body in a command. */
const MAX_SHOWN_CHARS = 60_000;
/** After so long without the end of an answer a request counts as hung. */
const GIVE_UP_MS = 60_000;

export class Sender {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 32 });

  /** @throws Error when the connection broke or the answer had not ended after a minute */
  send(baseUrl: string, request: FuzzRequest): Promise<Answer> {
    const beganAt = performance.now();
    return new Promise((resolve, reject) => {
      const { origin, pathname } = new URL(baseUrl);
      const base = pathname === "/" ? "" : pathname;
      const { method, headers, body } = request;
      // The length is said even of no body, as most clients do for methods that may have one.
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const sent = http.request(new URL(origin), {
        agent: this.#agent,
        method,
        path: `${base}${request.path}`,
        headers: { "user-agent": "offhook-fuzz", ...headers, ...length },
      });
      // An answer that goes on and on is none either.
      const timer = setTimeout(
        () => sent.destroy(new Error(`no answer within ${GIVE_UP_MS} ms`)),
        GIVE_UP_MS,
      );
      sent.on("close", () => clearTimeout(timer));
      sent.on("error", reject);
      sent.on("response", (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          if (text.length < MAX_KEPT_CHARS) text += chunk;
        });
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: text,
            tookMs: performance.now() - beganAt,
          }),
        );
      });
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** The request as a command that repeats it. */
export function asCurl(baseUrl: string, { method, path, headers, body }: FuzzRequest): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const data = body === undefined ? [] : ["--data-binary", quote(body.toString().slice(0, MAX_SHOWN_CHARS))];
  const given = Object.entries(headers).flatMap(([name, value]) => ["-H", quote(`${name}: ${value}`)]);
  return ["curl -sS -g -X", method, ...given, ...data, quote(`${baseUrl}${path}`)].join(" ");
}
