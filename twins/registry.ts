/**
 * The available twins, one line per package. A twin's code is loaded when a service of its name is first needed, so unused
 * twins cost no start time. `npm run fork -- --without NAME` removes a line together with its package.
 */
import { packagedTwin, type TwinEntry } from "@offhook/platform/twin/twin-entry";

export const registry: readonly TwinEntry[] = [
  packagedTwin("elasticsearch", () => import("@offhook/elasticsearch")),
  packagedTwin("engine", () => import("@offhook/engine")),
  packagedTwin("postgres", () => import("@offhook/postgres")),
  packagedTwin("splunk", () => import("@offhook/splunk")),
  packagedTwin("vapi", () => import("@offhook/vapi")),
];
