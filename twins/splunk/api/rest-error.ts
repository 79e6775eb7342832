/** Errors of the REST API, with splunkd's messages. */

export interface RestMessage {
  type: "FATAL" | "ERROR" | "WARN" | "INFO" | "DEBUG";
  /** Rarely present. */
  code?: string;
  text: string;
}

/** A response that consists of messages. */
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

/** A refusal of the search dispatcher. */
export function dispatcherError(status: number, text: string): RestError {
  return new RestError(status, [{ type: "FATAL", text }]);
}

/** A refusal of any other handler. */
export function handlerError(status: number, text: string): RestError {
  return new RestError(status, [{ type: "ERROR", text }]);
}

export const notFound = (): RestError => handlerError(404, "Not Found");

/** The error for a missing argument. */
export function missingArgument(argument: string): RestError {
  return handlerError(400, `The following required arguments are missing: ${argument}.`);
}
