/**
 * `/console`: the pages of a console, which another package makes, and the way to sign in. The pages themselves are public:
 * what they show takes a session.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { ApiKeys } from "../http/api-keys.ts";
import { createAuthenticator } from "../http/authentication.ts";
import { errorResponse, ownRefusal } from "../http/errors.ts";
import { refuseEarly } from "../http/http.ts";
import type { VendorResponse } from "../http/operation.ts";
import { createRouter } from "../http/router.ts";
import type { Sessions } from "../http/session.ts";
import type { OrganisationJournals } from "../journal/organisation-journals.ts";
import type { FindChannels } from "../sandboxes/agent-setup.ts";
import type { Local } from "../sandboxes/serve.ts";
import { ConsoleCodes, codeOperations, linkOf } from "./console-codes.ts";
import { createConsoleSession } from "./console-session.ts";
import { requireOrganisation, serveOwned } from "./organisation-routes.ts";

/** A request for a page of the console, or for a file of it. */
export interface ConsoleRequest {
  /** Path below `/console`, still percent-encoded: `/`, `/assets/page.js`, `/dev/calls`. */
  path: string;
  headers: IncomingHttpHeaders;
  /** Origins of the agents' voice channels (`ws://127.0.0.1:8008`), for the `connect-src` of a content security policy. */
  connectSources: readonly string[];
}

/** What serves the pages of a console. */
export interface ConsolePages {
  /** Answers a GET, or a HEAD, of which only the headers are sent. */
  serve(request: ConsoleRequest): Promise<VendorResponse>;
}

/** Loads the package of the pages. */
export type LoadConsole = () => Promise<{ default: ConsolePages }>;

interface ConsoleOptions {
  load: LoadConsole;
  /** Address of the gateway. */
  baseUrl: string;
  keys: ApiKeys;
  sessions: Sessions;
  journals: OrganisationJournals;
  /** Paths of the project's routes that an organisation may ask. */
  projectRoutesOf(organisation: string): readonly string[];
  channels: FindChannels;
  log: Logger;
}

/** Serves `/console` and below. */
export interface Console {
  url: string;
  /** Makes an address that signs a browser in once. */
  createLink(organisation: string): string;
  serve(req: IncomingMessage, res: ServerResponse, address: Local): Promise<void>;
}

/** Serves the pages that `load` answers, which is called for the first of them. */
export function createConsole({ load, channels, log, ...options }: ConsoleOptions): Console {
  const { keys, sessions, journals, baseUrl, projectRoutesOf } = options;
  const url = `${baseUrl}${PREFIX}`;
  const codes = new ConsoleCodes();
  const session = createConsoleSession({ keys, codes, sessions, projectRoutesOf });
  const codeRoutes = requireOrganisation(
    { authenticator: createAuthenticator(keys), journals },
    (req, res, address, owner) => {
      const target = { ...owner, codes, url };
      return serveOwned(req, res, address, { operations, target, log });
    },
  );
  let loading: Promise<ConsolePages> | undefined;

  /** A failed load is tried again with the next request. */
  function pages(): Promise<ConsolePages> {
    loading ??= load()
      .then((loaded) => loaded.default)
      .catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
    return loading;
  }

  async function answerPage(req: IncomingMessage, { path }: Local): Promise<VendorResponse> {
    const { method = "GET", headers } = req;
    if (method !== "GET" && method !== "HEAD") {
      return ownRefusal({ kind: "unknown-path", method, path, allowed: ["GET", "HEAD"] });
    }
    try {
      const connectSources = originsOf(await channels());
      const page = { path: path.slice(PREFIX.length) || "/", headers, connectSources };
      const response = await (await pages()).serve(page);
      return { ...response, headers: { ...response.headers, ...PAGE_HEADERS } };
    } catch (error) {
      log.error({ err: error }, "the console failed to answer");
      return errorResponse(500, "internal", "the console failed; the twins' log says why");
    }
  }

  return {
    url,
    createLink: (organisation) => linkOf(url, codes.issue(organisation).code),
    async serve(req, res, address) {
      for (const [name, value] of Object.entries(PAGE_HEADERS)) res.setHeader(name, value);
      if (address.path === `${PREFIX}/codes`) return codeRoutes.serve(req, res, address);
      const response =
        address.path === `${PREFIX}/session`
          ? await session.answer(req, res, address)
          : (session.exchange(req, res, address) ?? (await answerPage(req, address)));
      if (response) await refuseEarly(req, res, response);
    },
  };
}

/** What a browser makes documents of, which may hold scripts. */
const DOCUMENTS = ["document", "iframe", "frame", "embed", "object"];

/**
 * Takes the origin from a document that a browser opens elsewhere at the gateway: it would be the console's, and what the
 * code under test has stored in a twin could act with its session. Programs are answered as ever.
 */
export function isolateDocument({ headers }: IncomingMessage, res: ServerResponse): void {
  const { accept = "", "sec-fetch-dest": destination } = headers;
  const isDocument =
    destination === undefined ? accept.includes("text/html") : DOCUMENTS.includes(String(destination));
  if (isDocument) res.setHeader("content-security-policy", "sandbox");
}

const PREFIX = "/console";
const operations = createRouter(codeOperations);

/** Of every answer, whatever the pages say: the rules of sessions rest on them. */
const PAGE_HEADERS = {
  // A page of another port is of the same site: in its frame, ours would have the session.
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // Not less: at an address without TLS on another machine, a browser names the page by its Referer alone.
  "referrer-policy": "same-origin",
};

function originsOf(channels: readonly { url: string }[]): string[] {
  const origins = channels.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).origin] : []));
  return [...new Set(origins)];
}
