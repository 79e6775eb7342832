/** Serves `/environments`. */
import { environmentOperations, uploadRoute } from "../datasets/environment-operations.ts";
import { serveUpload, type UploadTarget } from "../datasets/upload.ts";
import { errorResponse } from "../http/errors.ts";
import { refuseEarly } from "../http/http.ts";
import { createRouter } from "../http/router.ts";
import {
  type OrganisationRoutes,
  type OrganisationRoutesOptions,
  type Owner,
  requireOrganisation,
  serveOwned,
} from "./organisation-routes.ts";

type EnvironmentRoutesOptions = Omit<UploadTarget, keyof Owner> & OrganisationRoutesOptions;

const operations = createRouter(environmentOperations);
const uploads = createRouter([uploadRoute]);

export function createEnvironmentRoutes({
  authenticator,
  journals,
  log,
  ...shared
}: EnvironmentRoutesOptions): OrganisationRoutes {
  return requireOrganisation({ authenticator, journals }, async (req, res, address, owner) => {
    const target = { ...shared, ...owner };
    const upload = uploads.match(req.method ?? "GET", address.path);
    if (upload.kind !== "found") return serveOwned(req, res, address, { operations, target, log });
    try {
      await serveUpload(req, res, address, upload.params, target);
    } catch (error) {
      log.error({ err: error, operation: uploadRoute.id }, "an operation failed");
      const reason = "the upload failed; the twins' log says why";
      await refuseEarly(req, res, errorResponse(500, "internal", reason));
    }
  });
}
