/** Serves `/sandboxes`: key first, then the operation on what the key's organisation has. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { ApiKeys } from "./api-keys.ts";
import { liveClock } from "./clock.ts";
import { type SandboxesTarget, sandboxOperations } from "./control/sandboxes.ts";
import { organisationOf, unauthorized } from "./control/serve.ts";
import { ownRefusal } from "./errors.ts";
import { DEFAULT_BODY_BYTES, refuseEarly } from "./http.ts";
import { Journal } from "./journal.ts";
import { createMask } from "./mask.ts";
import { createRouter } from "./router.ts";
import { type Local, serveOperation } from "./serve.ts";

export interface SandboxRoutes {
  serve(req: IncomingMessage, res: ServerResponse, address: Local): Promise<void>;
}

const operations = createRouter(sandboxOperations);

/** What a body or an answer holds of secrets: a database's address has its password in it. */
const mask = createMask({ secretMembers: ["config", "environment", "url"] });

export interface SandboxRoutesOptions extends Omit<SandboxesTarget, "organisation" | "journal"> {
  keys: ApiKeys;
  log: Logger;
}

export function createSandboxRoutes({ keys, log, ...target }: SandboxRoutesOptions): SandboxRoutes {
  const journals = new Map<string, Journal>();
  const journalOf = (organisation: string): Journal => {
    let journal = journals.get(organisation);
    if (!journal) {
      journal = new Journal(mask, liveClock);
      journals.set(organisation, journal);
    }
    return journal;
  };
  return {
    async serve(req, res, address) {
      const organisation = organisationOf(req, keys);
      if (organisation === undefined) {
        await refuseEarly(req, res, unauthorized);
        return;
      }
      const journal = journalOf(organisation);
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
