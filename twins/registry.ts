/**
 * The twins there are: one line each. A twin's code is loaded when a service is first asked for by this name, so who runs one
 * twin does not wait for the others. To add a twin, give its folder a line; to take one out, remove its line, its folder, and its
 * service in the environment file.
 */
import type { TwinEntry } from "./sandbox/twin-entry.ts";

export const registry: readonly TwinEntry[] = [
  { name: "elasticsearch", load: () => import("./search/index.ts") },
  { name: "engine", load: () => import("./engine/index.ts") },
  { name: "postgres", load: () => import("./database/index.ts") },
  { name: "splunk", load: () => import("./log-query/index.ts") },
  { name: "vapi", load: () => import("./voice-runtime/index.ts") },
];
