/**
 * The twins there are: a line for each package. A twin's code is loaded when a service is first asked for by this name, so who
 * runs one twin does not wait for the others. `npm run fork -- --without NAME` takes a line out with its package.
 */
import { packagedTwin, type TwinEntry } from "@offhook/platform/twin/twin-entry";

export const registry: readonly TwinEntry[] = [
  packagedTwin("elasticsearch", () => import("@offhook/elasticsearch")),
  packagedTwin("engine", () => import("@offhook/engine")),
  packagedTwin("postgres", () => import("@offhook/postgres")),
  packagedTwin("splunk", () => import("@offhook/splunk")),
  packagedTwin("vapi", () => import("@offhook/vapi")),
];
