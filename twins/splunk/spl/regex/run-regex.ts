/** Runs regular expressions in this process with a time limit, against catastrophic backtracking. */
import { createContext, Script } from "node:vm";

/** Limit for the rows of one chunk. */
const TIMEOUT_MS = 2_000;

/** Ends a statement whose regular expression takes too long. */
class RegexTimeout extends Error {
  constructor() {
    super("Regex: the regular expression takes too long on this data");
    this.name = "RegexTimeout";
  }
}

const sandbox: { run: (() => void) | undefined } = { run: undefined };
const context = createContext(sandbox);
const script = new Script("run()");

/** @throws RegexTimeout */
export function runWithTimeout<Result>(work: () => Result): Result {
  let result: { value: Result } | undefined;
  sandbox.run = () => {
    result = { value: work() };
  };
  try {
    script.runInContext(context, { timeout: TIMEOUT_MS });
  } catch (error) {
    throw isTimeout(error) ? new RegexTimeout() : error;
  } finally {
    sandbox.run = undefined;
  }
  if (result === undefined) throw new RegexTimeout();
  return result.value;
}

/** The error comes from the other context, so it is no instance of this one's `Error`. */
function isTimeout(error: unknown): boolean {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
