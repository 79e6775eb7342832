/** Searches that do not get on while a test looks at them. */
import { queryGate } from "../store/query-gate.ts";

/** Keeps every statement of this process waiting until the answer is called. */
export function holdStatements(): () => void {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  for (let n = 0; n < 2; n++) void queryGate.run({}, () => held);
  return release;
}
