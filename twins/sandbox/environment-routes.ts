/** Serves `/environments`: key first, then the operation on what the key's organisation has. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { ApiKeys } from "./api-keys.ts";
import { organisationOf, unauthorized } from "./control/serve.ts";
import {
  type EnvironmentsTarget,
  environmentOperations,
  uploadRoute,
} from "./datasets/environment-operations.ts";
import { serveUpload, type UploadTarget } from "./datasets/upload.ts";
import { errorResponse, ownRefusal } from "./errors.ts";
import { DEFAULT_BODY_BYTES, refuseEarly } from "./http.ts";
import type { OrganisationJournals } from "./organisation-journals.ts";
import { createRouter } from "./router.ts";
import { type Local, serveOperation } from "./serve.ts";

export interface EnvironmentRoutes {
  serve(req: IncomingMessage, res: ServerResponse, address: Local): Promise<void>;
}

export interface EnvironmentRoutesOptions
  extends Omit<EnvironmentsTarget, "organisation">,
    Pick<UploadTarget, "mostBytes"> {
  keys: ApiKeys;
  journals: OrganisationJournals;
  log: Logger;
}

const operations = createRouter(environmentOperations);
const uploads = createRouter([uploadRoute]);

export function createEnvironmentRoutes({
  keys,
  journals,
  log,
  ...shared
}: EnvironmentRoutesOptions): EnvironmentRoutes {
  return {
    async serve(req, res, address) {
      const organisation = organisationOf(req, keys);
      if (organisation === undefined) {
        await refuseEarly(req, res, unauthorized);
        return;
      }
      const target = { ...shared, organisation, journal: journals.of(organisation) };
      const upload = uploads.match(req.method ?? "GET", address.path);
      if (upload.kind !== "found") {
        await serveOperation(req, res, address, {
          tier: "control",
          operations,
          target,
          twin: { journal: target.journal, log },
          defaultBodyBytes: DEFAULT_BODY_BYTES,
          refusal: ownRefusal,
        });
        return;
      }
      try {
        await serveUpload(req, res, address, upload.params, target);
      } catch (error) {
        log.error({ err: error, operation: uploadRoute.id }, "an operation failed");
        await refuseEarly(
          req,
          res,
          errorResponse(500, "internal", "the upload failed; the twins' log says why"),
        );
      }
    },
  };
}
