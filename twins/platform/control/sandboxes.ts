/** `/sandboxes`: making, finding, resetting and ending sandboxes. */

import { z } from "zod";
import { reasonOf } from "../base/reason.ts";
import { type Environments, FIRST_ENVIRONMENT } from "../datasets/environments.ts";
import { isPlainName } from "../http/api-keys.ts";
import {
  errorResponse,
  readBodyAs,
  readBodyAsync,
  readQueryAs,
  unavailableResponse,
} from "../http/errors.ts";
import { type Operation, operation, type VendorRequest, type VendorResponse } from "../http/operation.ts";
import type { Journal } from "../journal/journal.ts";
import type { FindChannels } from "../sandboxes/agent-setup.ts";
import type { Reach, Sandbox } from "../sandboxes/sandbox.ts";
import { describeSandbox } from "../sandboxes/sandbox-description.ts";
import { SandboxRefusal } from "../sandboxes/sandbox-refusal.ts";
import type { LivingSandbox, Sandboxes, SandboxPlan } from "../sandboxes/sandboxes.ts";
import { type CheckedService, servicesSchema, withEngine } from "../sandboxes/services.ts";
import { type Dataset, DatasetRefusal } from "../twin/dataset.ts";
import type { TwinEntry } from "../twin/twin-entry.ts";
import { WorldRefusal, WorldUnavailable } from "../world/world.ts";
import { answerRequests } from "./requests.ts";

/** What a sandbox operation works on: one organisation's view. */
export interface SandboxesTarget {
  organisation: string;
  sandboxes: Sandboxes;
  environments: Environments;
  /** The organisation's requests to these routes. */
  journal: Journal;
  /** The twins there are. */
  known: readonly TwinEntry[];
  /** The services of a sandbox whose request lists none. */
  defaultServices: readonly CheckedService[];
  /** Files and variables that services of the environment file may name. */
  ownReach: Reach;
  /** Files and variables that services of a request may name. */
  givenReach: Reach;
  /** The voice channels that an organisation may know of. */
  channelsOf(organisation: string): ReturnType<FindChannels>;
}

/** Maximum lifetime: a week. */
const MAX_TTL_SECONDS = 7 * 24 * 3600;

/** Takes the place of an id in the path of these routes' journal. */
const REQUESTS = "requests";

const plainName = z
  .string()
  .max(40, "must have at most 40 characters")
  .refine(isPlainName, "must hold only a-z, 0-9, _ and single - between them");

const createBody = (known: readonly TwinEntry[]) =>
  z
    .strictObject({
      id: plainName.refine((id) => id !== REQUESTS, `must not be ${REQUESTS}, which is a route`).optional(),
      services: servicesSchema(known).optional(),
      environment: plainName.default(FIRST_ENVIRONMENT),
      layout: z.enum(["split", "legacy"]).default("split"),
      ttl_seconds: z.number().positive().max(MAX_TTL_SECONDS).optional(),
    })
    .prefault({});

const noQuery = z.strictObject({});
const emptyBody = z.strictObject({}).optional();

export const sandboxOperations: readonly Operation<SandboxesTarget>[] = [
  operation<SandboxesTarget>({
    id: "sandbox.list",
    method: "GET",
    path: "/sandboxes",
    surface: "rest",
    summary: "The organisation's sandboxes, oldest first.",
    handle: (_request, { sandboxes, organisation }) => ({
      status: 200,
      body: { sandboxes: sandboxes.list(organisation).map(describeSandbox) },
    }),
  }),
  operation<SandboxesTarget>({
    id: "sandbox.create",
    method: "POST",
    path: "/sandboxes",
    surface: "rest",
    summary: "Starts a sandbox with the given services, or with those of the environment file.",
    async handle(request, target) {
      const body = await readBodyAsync(request, createBody(target.known));
      if (!body.ok) return body.response;
      const { id, services: given, environment, layout, ttl_seconds } = body.value;
      const services = given ? await withEngine(given, target.known) : target.defaultServices;
      const ttlMs = ttl_seconds === undefined ? undefined : ttl_seconds * 1000;
      try {
        const reach = given ? target.givenReach : target.ownReach;
        // Default services use the datasets of the environment instead.
        const ownDatasets = given ? await readOwnDatasets(services, target) : undefined;
        const plan = { id, services, environment, ownDatasets, reach, layout, ttlMs };
        const living = await createOrRelease(plan, target);
        return { status: 201, body: describeSandbox(living) };
      } catch (error) {
        return creationFailure(error, given ? "request" : "environment file");
      }
    },
  }),
  operation<SandboxesTarget>({
    id: "sandbox.requests",
    method: "GET",
    path: `/sandboxes/${REQUESTS}`,
    surface: "rest",
    summary: "What the organisation asked of the routes of /sandboxes, with the filters of /sim/requests.",
    handle: (request, { journal }) => answerRequests(request, journal),
  }),
  operation<SandboxesTarget>({
    id: "sandbox.get",
    method: "GET",
    path: "/sandboxes/:id",
    surface: "rest",
    summary: "One sandbox: each twin's addresses, and the variables a client of it needs.",
    handle: ({ params }, { sandboxes, organisation }) => {
      const living = sandboxes.get(organisation, params.id ?? "");
      return living ? { status: 200, body: describeSandbox(living) } : noSandbox;
    },
  }),
  operation<SandboxesTarget>({
    id: "sandbox.channels",
    method: "GET",
    path: "/sandboxes/:id/channels",
    surface: "rest",
    summary:
      "The voice channels through which a caller reaches an agent: the environment file's, and those of agents that run.",
    handle: forSandbox(async (request, _sandbox, { organisation, channelsOf }) => {
      const query = readQueryAs(request, noQuery);
      if (!query.ok) return query.response;
      return { status: 200, body: { channels: await channelsOf(organisation) } };
    }),
  }),
  operation<SandboxesTarget>({
    id: "sandbox.delete",
    method: "DELETE",
    path: "/sandboxes/:id",
    surface: "rest",
    summary: "Ends a sandbox and everything in it.",
    async handle({ params }, { sandboxes, organisation }) {
      try {
        return (await sandboxes.remove(organisation, params.id ?? "")) ? { status: 204 } : noSandbox;
      } catch (error) {
        if (error instanceof SandboxRefusal) return refusalResponse(error);
        throw error;
      }
    },
  }),
  operation<SandboxesTarget>({
    id: "sandbox.reset",
    method: "POST",
    path: "/sandboxes/:id/reset",
    surface: "rest",
    summary: "Puts every twin back to its start, or none.",
    async handle(request, { sandboxes, organisation }) {
      const body = readBodyAs(request, emptyBody);
      if (!body.ok) return body.response;
      const done = await sandboxes.reset(organisation, request.params.id ?? "");
      if (!done) return noSandbox;
      const { sandbox, outcome } = done;
      if (outcome.kind === "reset") {
        const twins = [...sandbox.twins].map(([name, { world }]) => ({
          name,
          state_version: world.stateVersion,
        }));
        return { status: 200, body: { id: sandbox.id, twins } };
      }
      const { failures, lost } = outcome;
      const problems = [
        ...failures.map(({ twin, reason }) => ({ twin, rule: `could not be reset: ${reason}` })),
        ...lost.map(({ twin, reason }) => ({ twin, rule: `did not get its state back: ${reason}` })),
      ];
      const message =
        lost.length === 0
          ? "no twin was reset: what had changed has its state back"
          : "the reset failed, and some twins did not get their state back; delete the sandbox";
      const status = lost.length === 0 && failures.every(({ unavailable }) => unavailable) ? 503 : 500;
      return errorResponse(status, "not_reset", message, problems);
    },
  }),
];

/** Reads the datasets that services name. @throws DatasetRefusal, or Error naming the service */
async function readOwnDatasets(
  services: readonly CheckedService[],
  { environments, givenReach }: SandboxesTarget,
): Promise<Map<string, Dataset>> {
  const datasets = new Map<string, Dataset>();
  try {
    for (const { definition, dataset } of services) {
      if (dataset === undefined) continue;
      const file = givenReach.resolvePath(dataset);
      const made = await environments.fromFile(definition, file).catch((reason: unknown) => {
        if (reason instanceof WorldUnavailable) throw reason;
        throw withoutFileContents(givenReach.fileError(dataset, reason), reason);
      });
      datasets.set(definition.name, made);
    }
    return datasets;
  } catch (error) {
    await releaseAll(datasets);
    throw error;
  }
}

/** The refusal of a dataset's file with the places of its problems, but without quoting its content. */
function withoutFileContents({ message }: Error, reason: unknown): Error {
  if (!(reason instanceof DatasetRefusal)) return new Error(message);
  const places = reason.problems.map(({ rule: _rule, ...place }) => ({ ...place, rule: "is wrong here" }));
  return new DatasetRefusal(message, places, reason.total);
}

async function createOrRelease(
  plan: SandboxPlan,
  { sandboxes, organisation }: SandboxesTarget,
): Promise<LivingSandbox> {
  try {
    return await sandboxes.create(organisation, plan);
  } catch (error) {
    if (plan.ownDatasets) await releaseAll(plan.ownDatasets);
    throw error;
  }
}

async function releaseAll(datasets: ReadonlyMap<string, Dataset>): Promise<void> {
  for (const dataset of datasets.values()) await dataset.release();
}

const noSandbox = errorResponse(404, "not_found", "there is no such sandbox");

type Handle = Operation<SandboxesTarget>["handle"];

/** Handles requests to one sandbox of the organisation, named by `:id`; answers 404 when there is none. */
export function forSandbox(
  handle: (request: VendorRequest, sandbox: Sandbox, target: SandboxesTarget) => ReturnType<Handle>,
): Handle {
  return (request, target) => {
    const living = target.sandboxes.get(target.organisation, request.params.id ?? "");
    return living ? handle(request, living.sandbox, target) : noSandbox;
  };
}

function refusalResponse({ status, code, message }: SandboxRefusal): VendorResponse {
  return errorResponse(status, code, message);
}

/** @param source of the services: a twin that does not start is the client's fault only if the request named it. */
function creationFailure(error: unknown, source: "request" | "environment file"): VendorResponse {
  if (error instanceof SandboxRefusal) return refusalResponse(error);
  const message = reasonOf(error);
  if (error instanceof DatasetRefusal) return errorResponse(422, "invalid_dataset", message, error.problems);
  if (error instanceof WorldUnavailable) return unavailableResponse(error);
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof WorldRefusal) return errorResponse(422, "refused", message, cause.problems);
  if (cause instanceof WorldUnavailable) return unavailableResponse(cause);
  return errorResponse(source === "request" ? 422 : 500, "not_started", message);
}
