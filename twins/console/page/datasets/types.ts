/** Datasets as the routes below `/environments` describe them. */
import { read } from "../api/client.ts";

interface DatasetColumn {
  name: string;
  type: string;
  multi: boolean;
  note?: string;
}

export interface Dataset {
  file_name: string | null;
  format: string;
  bytes: number;
  created_at: string;
  rows: number;
  columns: DatasetColumn[];
  time_field: string | null;
  time_range: { from: string; to: string } | null;
}

/** A dataset with its first rows. */
export interface DatasetWithSample extends Dataset {
  sample: Record<string, unknown>[];
}

/** A service that takes a dataset. */
export interface Service {
  name: string;
  /** Whether its dataset is being uploaded, replaced or deleted. */
  changing: boolean;
  dataset: Dataset | null;
}

export interface Environment {
  name: string;
  /** Ids of the sandboxes that use its datasets. */
  sandboxes: string[];
  /** The services that take a dataset. */
  services: Service[];
}

/** Where a dataset is. */
export interface DatasetPlace {
  environment: string;
  service: string;
}

export const FORMATS = ["csv", "ndjson"] as const;
export type Format = (typeof FORMATS)[number];

/** The format that a file's name tells; compressed files end in `.gz`. */
export function formatOf(fileName: string): Format | undefined {
  const name = fileName.toLowerCase().replace(/\.gz$/, "");
  if (name.endsWith(".csv")) return "csv";
  return /\.(ndjson|jsonl|json|log)$/.test(name) ? "ndjson" : undefined;
}

/** The address of a dataset. */
export function datasetPath({ environment, service }: DatasetPlace): string {
  return `/environments/${encodeURIComponent(environment)}/datasets/${encodeURIComponent(service)}`;
}

/** The environments there are, with the services that take a dataset. @throws ApiError */
export async function readEnvironments(signal?: AbortSignal): Promise<Environment[]> {
  const answer = await read<{ environments: Environment[] }>("/environments", signal);
  return answer.environments;
}

/** One service of an environment, as it is now. @throws ApiError */
export async function readService({ environment, service }: DatasetPlace): Promise<Service | undefined> {
  const environments = await readEnvironments();
  const services = environments.find(({ name }) => name === environment)?.services;
  return services?.find(({ name }) => name === service);
}

/** The value of a column in a row: its name is a member, or a path of members (`http.request.method`). */
export function valueAt(row: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(row, name)) return row[name];
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const inner = row[name.slice(0, dot)];
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) continue;
    const value = valueAt(Object.fromEntries(Object.entries(inner)), name.slice(dot + 1));
    if (value !== undefined) return value;
  }
  return undefined;
}
