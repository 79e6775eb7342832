/** Settings of an index. They are shown again and have no effect. */
import { emptyRecord } from "@offhook/platform/base/lookup-table";
import type { JsonObject } from "../json/read.ts";
import { uuidOf } from "../vendor/node.ts";

/** `index.version.created` of 8.15. */
const INDEX_VERSION = "8512000";

/**
 * @param createdMs milliseconds since the Unix epoch
 * @param given settings of the create request, as `readSettings` returns them
 */
export function settingsOf(name: string, createdMs: number, given: JsonObject = {}): object {
  const usual = {
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
  const own = Object.entries(given).map(([setting, value]) => [setting, String(value)] as const);
  return own.length === 0 ? usual : nest([...new Map([...flatten(usual), ...own])]);
}

/** Settings of a request as texts by full name: `{"index.number_of_replicas": "0"}`. */
export function readSettings(json: JsonObject): JsonObject {
  return Object.fromEntries(
    flatten(json).map(([name, value]) => [name.startsWith("index.") ? name : `index.${name}`, value]),
  );
}

/** Full names and values of nested settings. */
export function flatten(settings: object, path = ""): [name: string, value: string][] {
  return Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    const inner = path === "" ? name : `${path}.${name}`;
    return typeof value === "object" && value !== null ? flatten(value, inner) : [[inner, String(value)]];
  });
}

/** Dotted names as nested objects. */
export function nest(settings: readonly (readonly [string, string])[]): object {
  const root = emptyRecord<unknown>();
  for (const [path, value] of settings) {
    let place: Record<string, unknown> = root;
    const names = path.split(".");
    const last = names.pop() ?? "";
    for (const name of names) {
      const inner = place[name];
      const next: Record<string, unknown> = isRecord(inner) ? inner : emptyRecord<unknown>();
      place[name] = next;
      place = next;
    }
    place[last] = value;
  }
  return root;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
