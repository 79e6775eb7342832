/** Settings of an index, which are the same for each. */
import { uuidOf } from "../node.ts";

/** 8.15's own number for indices it makes. */
const INDEX_VERSION = "8512000";

/** @param createdMs milliseconds since the Unix epoch */
export function settingsOf(name: string, createdMs: number) {
  return {
    index: {
      routing: { allocation: { include: { _tier_preference: "data_content" } } },
      number_of_shards: "1",
      provided_name: name,
      creation_date: String(createdMs),
      number_of_replicas: "1",
      uuid: uuidOf(name),
      version: { created: INDEX_VERSION },
    },
  };
}

/** `index.number_of_shards` and so on, of an object of objects. */
export function flattened(settings: object, path = ""): [name: string, value: string][] {
  return Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    const inner = path === "" ? name : `${path}.${name}`;
    return typeof value === "object" && value !== null ? flattened(value, inner) : [[inner, String(value)]];
  });
}
