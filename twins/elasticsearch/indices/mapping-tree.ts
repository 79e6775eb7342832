/** A mapping as a tree of objects and fields. */
import type { JsonObject } from "../json/read.ts";

export type Dynamic = "true" | "false" | "strict" | "runtime";

export interface ObjectNode {
  readonly kind: "object";
  /** `object` or `nested` where the mapping says so. */
  readonly type: string | undefined;
  readonly dynamic: Dynamic | undefined;
  /** A disabled object is in the source alone. */
  readonly enabled: boolean;
  /** Members without an effect, which are shown again. */
  readonly others: JsonObject;
  readonly properties: ReadonlyMap<string, MappingNode>;
}

export interface FieldNode {
  readonly kind: "field";
  readonly type: string;
  readonly parameters: JsonObject;
  readonly fields: ReadonlyMap<string, FieldNode>;
}

export type MappingNode = ObjectNode | FieldNode;

export const emptyMapping: ObjectNode = {
  kind: "object",
  type: undefined,
  dynamic: undefined,
  enabled: true,
  others: {},
  properties: new Map(),
};
