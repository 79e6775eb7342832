/** `/console`: the pages of a console, which another package makes. They are public: what they show takes a key. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { errorResponse, ownRefusal } from "../http/errors.ts";
import { refuseEarly } from "../http/http.ts";
import type { VendorResponse } from "../http/operation.ts";
import type { Local } from "../sandboxes/serve.ts";

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
  /** Voice channels of the agents. */
  channels: () => Promise<readonly { url: string }[]>;
  log: Logger;
}

/** Serves `/console` and below. */
export interface Console {
  serve(req: IncomingMessage, res: ServerResponse, address: Local): Promise<void>;
}

/** Serves the pages that `load` answers, which is called for the first of them. */
export function createConsole({ load, channels, log }: ConsoleOptions): Console {
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

  async function answer(req: IncomingMessage, { path }: Local): Promise<VendorResponse> {
    const { method = "GET", headers } = req;
    if (method !== "GET" && method !== "HEAD") {
      return ownRefusal({ kind: "unknown-path", method, path, allowed: ["GET", "HEAD"] });
    }
    try {
      const connectSources = originsOf(await channels());
      return await (await pages()).serve({ path: path.slice(PREFIX.length) || "/", headers, connectSources });
    } catch (error) {
      log.error({ err: error }, "the console failed to answer");
      return errorResponse(500, "internal", "the console failed; the twins' log says why");
    }
  }

  return {
    async serve(req, res, address) {
      await refuseEarly(req, res, await answer(req, address));
    },
  };
}

const PREFIX = "/console";

function originsOf(channels: readonly { url: string }[]): string[] {
  const origins = channels.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).origin] : []));
  return [...new Set(origins)];
}
