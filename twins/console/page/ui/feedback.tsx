/** What a page says when it has no data: it loads, nothing is there, or something is wrong. */
import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/client.ts";

/** A refusal with everything that is wrong, and a way to try again. */
export function Failure({ error, retry }: { error: ApiError; retry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{error.message}</p>
      {error.problems.length > 0 ? (
        <ul>
          {error.problems.map((problem) => {
            const where = [problem.table, problem.row, problem.column ?? problem.field].filter(
              (part) => part !== undefined && part !== "",
            );
            return (
              <li key={JSON.stringify(problem)}>
                {[where.join("."), problem.rule].filter(Boolean).join(": ")}
              </li>
            );
          })}
        </ul>
      ) : null}
      {retry ? (
        <button type="button" class="button small" onClick={retry}>
          Try again
        </button>
      ) : null}
    </div>
  );
}

export function Loading() {
  return (
    <p class="empty" role="status">
      Loading…
    </p>
  );
}

/** Nothing is there; says what would bring something. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}
