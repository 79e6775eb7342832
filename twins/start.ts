/** Starts the twins of the registry, by default with the services of `environment.yaml`. */
import { fileURLToPath } from "node:url";
import { type RunningTwins, type StartOptions, startTwins } from "@offhook/platform/server/start";
import { consoles, projectRoutes, registry } from "./registry.ts";

const shippedEnvironment = fileURLToPath(new URL("./environment.yaml", import.meta.url));

/** Options of `startTwins`. Without an environment file and a port, services take free ports instead of the shipped ones. */
export type ProjectOptions = Omit<
  StartOptions,
  "twins" | "console" | "projectRoutes" | "environmentFile" | "servicePorts"
> &
  Partial<Pick<StartOptions, "environmentFile">>;

export function startProjectTwins(options: ProjectOptions = {}): Promise<RunningTwins> {
  const { environmentFile, port = 0 } = options;
  const [console] = consoles;
  return startTwins({
    ...options,
    twins: registry,
    ...(console ? { console } : {}),
    projectRoutes,
    environmentFile: environmentFile ?? shippedEnvironment,
    servicePorts: environmentFile === undefined && port === 0 ? "free" : "declared",
  });
}
