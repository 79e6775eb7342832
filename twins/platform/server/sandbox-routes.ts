/** Serves `/sandboxes`. */
import { sandboxChangeOperations } from "../control/sandbox-changes.ts";
import { sandboxRequestOperations } from "../control/sandbox-requests.ts";
import { type SandboxesTarget, sandboxOperations } from "../control/sandboxes.ts";
import { createRouter } from "../http/router.ts";
import {
  type OrganisationRoutes,
  type OrganisationRoutesOptions,
  type Owner,
  requireOrganisation,
  serveOwned,
} from "./organisation-routes.ts";

const operations = createRouter([
  ...sandboxOperations,
  ...sandboxRequestOperations,
  ...sandboxChangeOperations,
]);

type SandboxRoutesOptions = Omit<SandboxesTarget, keyof Owner> & OrganisationRoutesOptions;

export function createSandboxRoutes({
  authenticator,
  journals,
  log,
  ...shared
}: SandboxRoutesOptions): OrganisationRoutes {
  return requireOrganisation({ authenticator, journals }, (req, res, address, owner) =>
    serveOwned(req, res, address, { operations, target: { ...shared, ...owner }, log }),
  );
}
