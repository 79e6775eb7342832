/** Routes that belong to no twin: check the key or session, then run the operation for its organisation. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { type Authenticator, unauthorized } from "../http/authentication.ts";
import { ownRefusal } from "../http/errors.ts";
import { DEFAULT_BODY_BYTES, refuseEarly } from "../http/http.ts";
import type { Operation } from "../http/operation.ts";
import type { Router } from "../http/router.ts";
import type { Journal } from "../journal/journal.ts";
import type { OrganisationJournals } from "../journal/organisation-journals.ts";
import { type Local, serveOperation } from "../sandboxes/serve.ts";

export interface OrganisationRoutes {
  serve(req: IncomingMessage, res: ServerResponse, address: Local): Promise<void>;
}

/** Options of such routes, besides the target of their operations. */
export interface OrganisationRoutesOptions {
  authenticator: Authenticator;
  journals: OrganisationJournals;
  log: Logger;
}

/** The organisation that sent a request, and the journal for it. */
export interface Owner {
  organisation: string;
  journal: Journal;
}

type ServeOwner = (req: IncomingMessage, res: ServerResponse, address: Local, owner: Owner) => Promise<void>;

/** Serves requests with a valid key or session on behalf of its organisation. */
export function requireOrganisation(
  { authenticator, journals }: Omit<OrganisationRoutesOptions, "log">,
  serve: ServeOwner,
): OrganisationRoutes {
  return {
    async serve(req, res, address) {
      const organisation = authenticator.organisationOf(req.headers);
      if (organisation === undefined) {
        await refuseEarly(req, res, unauthorized);
        return;
      }
      await serve(req, res, address, { organisation, journal: journals.of(organisation) });
    },
  };
}

export function serveOwned<Target>(
  req: IncomingMessage,
  res: ServerResponse,
  address: Local,
  { operations, target, log }: { operations: Router<Operation<Target>>; target: Target & Owner; log: Logger },
): Promise<void> {
  return serveOperation(req, res, address, {
    tier: "control",
    operations,
    target,
    twin: { journal: target.journal, log },
    defaultBodyBytes: DEFAULT_BODY_BYTES,
    refusal: ownRefusal,
  });
}
