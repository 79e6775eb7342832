/** Serves `/sandboxes`: key first, then the operation on what the key's organisation has. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { ApiKeys } from "./api-keys.ts";
import { type SandboxesTarget, sandboxOperations } from "./control/sandboxes.ts";
import { organisationOf, unauthorized } from "./control/serve.ts";
import { ownRefusal } from "./errors.ts";
import { DEFAULT_BODY_BYTES, refuseEarly } from "./http.ts";
import type { OrganisationJournals } from "./organisation-journals.ts";
import { createRouter } from "./router.ts";
import { type Local, serveOperation } from "./serve.ts";

export interface SandboxRoutes {
  serve(req: IncomingMessage, res: ServerResponse, address: Local): Promise<void>;
}

const operations = createRouter(sandboxOperations);

export interface SandboxRoutesOptions extends Omit<SandboxesTarget, "organisation" | "journal"> {
  keys: ApiKeys;
  journals: OrganisationJournals;
  log: Logger;
}

export function createSandboxRoutes({ keys, journals, log, ...target }: SandboxRoutesOptions): SandboxRoutes {
  return {
    async serve(req, res, address) {
      const organisation = organisationOf(req, keys);
      if (organisation === undefined) {
        await refuseEarly(req, res, unauthorized);
        return;
      }
      const journal = journals.of(organisation);
      await serveOperation(req, res, address, {
        tier: "control",
        operations,
        target: { ...target, organisation, journal },
        twin: { journal, log },
        defaultBodyBytes: DEFAULT_BODY_BYTES,
        refusal: ownRefusal,
      });
    },
  };
}
