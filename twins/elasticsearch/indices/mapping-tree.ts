/** A mapping as a tree of objects and fields. */
import type { JsonObject } from "../json/read.ts";

export type Dynamic = "true" | "false" | "strict" | "runtime";

export interface ObjectNode {
  readonly kind: "object";
  /** `object` or `nested` where it was written. */
  readonly type: string | undefined;
  readonly dynamic: Dynamic | undefined;
  /** An object that is not is kept in the source alone. */
  readonly enabled: boolean;
  /** Members that are shown again and have no effect. */
  readonly others: JsonObject;
  readonly properties: ReadonlyMap<string, MappingNode>;
}

export interface FieldNode {
  readonly kind: "field";
  readonly type: string;
  readonly parameters: JsonObject;
  /** Its sub-fields. */
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
