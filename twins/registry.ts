/**
 * The available twins, one line per package. A twin's code is loaded when a service of its name is first needed, so unused
 * twins cost no start time. `npm run fork -- --without NAME` removes a line together with its package.
 */
import type { LoadConsole } from "@offhook/platform/server/console";
import type { ProjectRoutesEntry } from "@offhook/platform/server/project-routes";
import { packagedTwin, type TwinEntry } from "@offhook/platform/twin/twin-entry";

export const registry: readonly TwinEntry[] = [
  packagedTwin("elasticsearch", () => import("@offhook/elasticsearch")),
  packagedTwin("engine", () => import("@offhook/engine")),
  packagedTwin("postgres", () => import("@offhook/postgres")),
  packagedTwin("splunk", () => import("@offhook/splunk")),
  packagedTwin("vapi", () => import("@offhook/vapi")),
];

/** What answers at `/console`: the first of them; without any, there is no console. */
export const consoles: readonly LoadConsole[] = [
  // Loaded with the first request for it.
  () => import("@offhook/console"),
];

/** What packages serve for the project itself, each below a path of its own; loaded with the first request for it. */
export const projectRoutes: readonly ProjectRoutesEntry[] = [
  { path: "/campaigns", load: () => import("@offhook/campaign") },
];
