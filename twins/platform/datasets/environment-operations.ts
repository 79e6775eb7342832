/** `/environments/{environment}/datasets/{service}`: the dataset of a service, described, deleted; uploads are in `upload.ts`. */
import { z } from "zod";
import { isPlainName } from "../http/api-keys.ts";
import { errorResponse, readQueryAs } from "../http/errors.ts";
import { type Operation, operation, type VendorRequest, type VendorResponse } from "../http/operation.ts";
import type { Dataset, DatasetDescription } from "../twin/dataset.ts";
import type { AnyTwinDefinition } from "../twin/twin.ts";
import { loadTwin, loadTwins, type TwinEntry } from "../twin/twin-entry.ts";
import {
  DatasetConflict,
  type DatasetPlace,
  type Environments,
  type ResetSandboxes,
} from "./environments.ts";

/** What an operation works on: one organisation's environments. */
export interface EnvironmentsTarget {
  organisation: string;
  environments: Environments;
  /** The twins there are. */
  known: readonly TwinEntry[];
  reset: ResetSandboxes;
  /** An organisation's sandboxes, oldest first. */
  sandboxesOf(organisation: string): readonly { id: string; environment: string }[];
}

const PATH = "/environments/:environment/datasets/:service";
const noQuery = z.strictObject({});

/** Declared apart from the operations because its body is streamed to the handler. */
export const uploadRoute = {
  id: "dataset.upload",
  method: "POST",
  path: PATH,
} as const;

export const environmentOperations: readonly Operation<EnvironmentsTarget>[] = [
  operation<EnvironmentsTarget>({
    id: "environment.list",
    method: "GET",
    path: "/environments",
    surface: "rest",
    summary:
      "The environments with a sandbox or a dataset: their sandboxes, and the services that take a dataset.",
    async handle(request, target) {
      const query = readQueryAs(request, noQuery);
      return query.ok
        ? { status: 200, body: { environments: await listEnvironments(target) } }
        : query.response;
    },
  }),
  operation<EnvironmentsTarget>({
    id: "dataset.describe",
    method: "GET",
    path: PATH,
    surface: "rest",
    summary: "The dataset of a service: its rows, columns, time range, and the first rows.",
    async handle(request, target) {
      const place = await placeOf(request, target);
      if (!place.ok) return place.response;
      const dataset = target.environments.dataset(place.place);
      return dataset ? descriptionResponse(200, dataset.description) : noDataset(place.place);
    },
  }),
  operation<EnvironmentsTarget>({
    id: "dataset.delete",
    method: "DELETE",
    path: PATH,
    surface: "rest",
    summary: "Removes the dataset of a service; the environment's sandboxes are reset to having none.",
    async handle(request, target) {
      const place = await placeOf(request, target);
      if (!place.ok) return place.response;
      try {
        const sandboxes = await target.environments.remove(place.place, target.reset);
        return sandboxes ? { status: 200, body: { sandboxes } } : noDataset(place.place);
      } catch (error) {
        if (error instanceof DatasetConflict) return errorResponse(409, "conflict", error.message);
        throw error;
      }
    },
  }),
];

async function listEnvironments({ organisation, environments, known, sandboxesOf }: EnvironmentsTarget) {
  const takers = (await loadTwins(known)).filter(({ takesDataset }) => takesDataset);
  const sandboxes = sandboxesOf(organisation);
  const names = new Set([
    ...environments.names(organisation),
    ...sandboxes.map(({ environment }) => environment),
  ]);
  return [...names].map((environment) => ({
    name: environment,
    sandboxes: sandboxes.filter((sandbox) => sandbox.environment === environment).map(({ id }) => id),
    services: takers.map(({ name: service }) => {
      const place = { organisation, environment, service };
      return {
        name: service,
        takes_dataset: true,
        changing: environments.isChanging(place),
        dataset: describeShortly(environments.dataset(place)),
      };
    }),
  }));
}

/** A dataset's description without its sample. */
function describeShortly(dataset: Dataset | undefined): Omit<DatasetDescription, "sample"> | null {
  if (!dataset) return null;
  const { sample: _sample, ...rest } = dataset.description;
  return rest;
}

type PlaceReading =
  | { ok: true; place: DatasetPlace; definition: AnyTwinDefinition }
  | { ok: false; response: VendorResponse };

/** Reads the place that a path names, if its service can have a dataset. */
export async function readPlace(
  params: Record<string, string>,
  { organisation, known }: Pick<EnvironmentsTarget, "organisation" | "known">,
): Promise<PlaceReading> {
  const { environment = "", service = "" } = params;
  const definition = await loadTwin(known, service);
  if (!isPlainName(environment) || environment.length > 40 || !definition) {
    const what = definition ? "environment" : "service";
    const takers = (await loadTwins(known))
      .filter(({ takesDataset }) => takesDataset)
      .map(({ name }) => name);
    const hint = definition || takers.length === 0 ? "" : `; datasets are taken by ${takers.join(", ")}`;
    return { ok: false, response: errorResponse(404, "not_found", `there is no such ${what}${hint}`) };
  }
  if (!definition.takesDataset) {
    const message = `service "${service}" takes no dataset`;
    return { ok: false, response: errorResponse(422, "invalid", message) };
  }
  return { ok: true, place: { organisation, environment, service }, definition };
}

async function placeOf(request: VendorRequest, target: EnvironmentsTarget): Promise<PlaceReading> {
  const query = readQueryAs(request, noQuery);
  return query.ok ? readPlace(request.params, target) : { ok: false, response: query.response };
}

function noDataset({ environment, service }: DatasetPlace): VendorResponse {
  return errorResponse(404, "not_found", `there is no dataset for ${service} in environment ${environment}`);
}

/** Answers a description. The sample is inserted as text: parsing its numbers would lose digits. */
export function descriptionResponse(
  status: number,
  description: DatasetDescription,
  more: object = {},
): VendorResponse {
  const { sample, ...rest } = description;
  const text = JSON.stringify({ ...rest, ...more });
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
    body: `${text.slice(0, -1)},"sample":[${sample.join(",")}]}`,
  };
}
