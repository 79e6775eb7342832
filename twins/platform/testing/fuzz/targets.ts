/** What is fuzzed: for each part its requests, and the shape of its refusals. */
import fc from "fast-check";
import { encode } from "./mutation.ts";
import type { FuzzRequest } from "./request.ts";
import type { Shape } from "./rules.ts";

export interface Target {
  name: string;
  baseUrl: string;
  requests: fc.Arbitrary<FuzzRequest>;
  shape: Shape;
  /** Gives the part its start back between two rounds, so that a round depends on nothing before it. */
  reset(): Promise<void>;
}

/** An operation as `/sim/operations` lists it. */
export interface ListedOperation {
  method: string;
  path: string;
}

/** A longer head is refused by Node itself. */
const MAX_PARAMETER_CHARS = 1_000;

/** Fills a path's parameters; every name gets its own arbitrary, and others get `otherwise`. */
export function pathOf(
  template: string,
  parameters: Record<string, fc.Arbitrary<string>>,
  otherwise: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const parts = template.split("/").map((part) => {
    if (!part.startsWith(":")) return fc.constant(part);
    const values = parameters[part.slice(1)] ?? otherwise;
    // An empty part would be another path, and dots are taken out of paths by clients.
    return values.map((value) => encode(value.slice(0, MAX_PARAMETER_CHARS) || "x").replace(/^\.+$/, "x"));
  });
  return fc.tuple(...parts).map((made) => made.join("/"));
}

/** Requests to any of the operations, each as often as its weight says, by default 1. */
export function requestsTo(
  operations: readonly ListedOperation[],
  requestOf: (operation: ListedOperation) => fc.Arbitrary<FuzzRequest>,
  weightOf: (operation: ListedOperation) => number = () => 1,
): fc.Arbitrary<FuzzRequest> {
  const [first, ...rest] = operations.map((operation) => ({
    weight: weightOf(operation),
    arbitrary: requestOf(operation),
  }));
  if (!first) throw new Error("the twin lists no operations");
  return fc.oneof(first, ...rest);
}
