/** What is wrong with a request, in splunkd's words. */

export interface RestMessage {
  type: "FATAL" | "ERROR" | "WARN" | "INFO" | "DEBUG";
  /** Few messages have one. */
  code?: string;
  text: string;
}

/** An answer that is nothing but messages. */
export class RestError extends Error {
  readonly status: number;
  readonly messages: readonly RestMessage[];
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, messages: readonly RestMessage[], headers: Record<string, string> = {}) {
    super(messages.map(({ text }) => text).join("; "));
    this.name = "RestError";
    this.status = status;
    this.messages = messages;
    this.headers = headers;
  }
}

/** The search dispatcher's refusals are FATAL. */
export function fatal(status: number, text: string): RestError {
  return new RestError(status, [{ type: "FATAL", text }]);
}

/** Everybody else's are ERROR. */
export function refused(status: number, text: string): RestError {
  return new RestError(status, [{ type: "ERROR", text }]);
}

export const notFound = (): RestError => refused(404, "Not Found");

/** A request does not say what it has to. */
export function missing(argument: string): RestError {
  return refused(400, `The following required arguments are missing: ${argument}.`);
}
