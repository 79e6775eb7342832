/**
 * Routes that packages add for the project itself, each below a path of its own: `/campaigns`. They belong to no sandbox;
 * as the environment file and the agents of the folder, they are the first organisation's.
 */
import type { Logger } from "pino";
import { errorResponse } from "../http/errors.ts";
import { refuseEarly } from "../http/http.ts";
import type { Operation } from "../http/operation.ts";
import { createRouter, type Router } from "../http/router.ts";
import {
  type OrganisationRoutes,
  type OrganisationRoutesOptions,
  type Owner,
  requireOrganisation,
  serveOwned,
} from "./organisation-routes.ts";

/** The routes of a package, ready to answer. */
interface OpenRoutes {
  /** Their paths begin with the entry's. */
  operations: readonly Operation<Owner>[];
  /** Closes what the answers needed. */
  close(): Promise<void>;
}

/** What a package of routes exports. */
export interface RoutesPackage {
  /** Makes the routes; what they need they open with the first request that needs it. */
  open(options: { log: Logger }): OpenRoutes;
}

/** The routes of a package, loaded with the first request below their path. */
export interface ProjectRoutesEntry {
  /** `/campaigns`. */
  path: string;
  load(): Promise<{ default: RoutesPackage }>;
}

/** All of them. */
export interface ProjectRoutes {
  /** The routes below whose path a path is. */
  find(path: string): OrganisationRoutes | undefined;
  /** Closes those that were opened. */
  stop(): Promise<void>;
}

interface ProjectRoutesOptions extends OrganisationRoutesOptions {
  entries: readonly ProjectRoutesEntry[];
  /** The organisation that the project belongs to. */
  owner: string;
}

interface Loaded {
  operations: Router<Operation<Owner>>;
  close(): Promise<void>;
}

/** Serves the routes of packages to the organisation that the project belongs to. */
export function createProjectRoutes({
  entries,
  owner,
  log,
  ...options
}: ProjectRoutesOptions): ProjectRoutes {
  const loading = new Map<ProjectRoutesEntry, Promise<Loaded>>();

  /** A failed load is tried again with the next request. */
  function load(entry: ProjectRoutesEntry): Promise<Loaded> {
    const known = loading.get(entry);
    if (known) return known;
    const started = entry.load().then(({ default: routes }) => {
      const { operations, close } = routes.open({ log });
      return { operations: createRouter(operations), close };
    });
    loading.set(entry, started);
    started.catch(() => loading.delete(entry));
    return started;
  }

  const served = entries.map((entry) => ({
    entry,
    routes: requireOrganisation(options, async (req, res, address, target) => {
      if (target.organisation !== owner) return void (await refuseEarly(req, res, foreign));
      const loaded = await load(entry).catch((error: unknown) => {
        log.error({ err: error, path: entry.path }, "routes could not be loaded");
      });
      if (!loaded) return void (await refuseEarly(req, res, notLoaded));
      return serveOwned(req, res, address, { operations: loaded.operations, target, log });
    }),
  }));

  return {
    find: (path) =>
      served.find(({ entry }) => path === entry.path || path.startsWith(`${entry.path}/`))?.routes,
    async stop() {
      const opened = await Promise.allSettled(loading.values());
      await Promise.all(opened.map((each) => (each.status === "fulfilled" ? each.value.close() : undefined)));
    },
  };
}

const foreign = errorResponse(403, "forbidden", "this belongs to the organisation of the sandbox dev");
const notLoaded = errorResponse(500, "internal", "the routes could not be loaded; the twins' log says why");
