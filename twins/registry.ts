/**
 * The twins there are: one line each. A twin's code is loaded when a service is first asked for by this name, so who runs one
 * twin does not wait for the others. To add a twin, give its folder a line; to take one out, remove its line, its folder, and its
 * service in the environment file.
 */
import type { TwinEntry } from "@offhook/platform/twin/twin-entry";

export const registry: readonly TwinEntry[] = [
  { name: "elasticsearch", load: () => import("@offhook/elasticsearch") },
  { name: "engine", load: () => import("@offhook/engine") },
  { name: "postgres", load: () => import("@offhook/postgres") },
  { name: "splunk", load: () => import("@offhook/splunk") },
  { name: "vapi", load: () => import("@offhook/vapi") },
];
