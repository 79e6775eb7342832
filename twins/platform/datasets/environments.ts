/**
 * The environments of each organisation, with one dataset per service. A sandbox belongs to an environment and starts
 * with its datasets; a change of a dataset resets the running sandboxes.
 */

import { linkSignals } from "../base/deadline.ts";
import { getOrAdd } from "../base/get-or-add.ts";
import type { Dataset, DatasetSource } from "../twin/dataset.ts";
import type { AnyTwinDefinition } from "../twin/twin.ts";
import type { Libraries } from "./libraries.ts";

/** The default environment; the environment file names its initial datasets. */
export const FIRST_ENVIRONMENT = "dev";

/** Datasets of an organisation at a time. */
const MAX_DATASETS = 64;

/** Identifies a dataset: each service of an environment has one. */
export interface DatasetPlace {
  organisation: string;
  environment: string;
  service: string;
}

/** What is at a place. */
type Slot =
  | { state: "present"; dataset: Dataset }
  /** Being uploaded, replaced or deleted; until that is done, sandboxes use `dataset`. */
  | { state: "changing"; dataset: Dataset | undefined }
  /** Deleted: the dataset of the environment file does not come back. */
  | { state: "absent" };

/** Why a dataset was not accepted or not deleted, as the routes answer it. */
export class DatasetConflict extends Error {}

/** The outcome of switching a sandbox to a changed dataset. */
export interface ResetSandbox {
  id: string;
  /** Why the reset failed. */
  problem?: string;
}

/** What an upload does when a dataset exists. */
export type ExistingDataset = "keep" | "replace";

/** Resets the sandboxes of an environment that run the service, so that they load its current dataset. */
export type ResetSandboxes = (place: DatasetPlace) => Promise<ResetSandbox[]>;

export class Environments {
  readonly #libraries: Libraries;
  readonly #slots = new Map<string, Map<string, Slot>>();
  /** Datasets of the environment file, by service. */
  readonly #initial = new Map<string, Dataset>();
  readonly #stopping = new AbortController();
  readonly #uploads = new Set<Promise<unknown>>();

  constructor(libraries: Libraries) {
    this.#libraries = libraries;
  }

  /** Reads the dataset that the environment file names for a service. @throws Error naming service and file */
  async begin(
    definition: AnyTwinDefinition,
    file: string,
    onProgress?: DatasetSource["onProgress"],
  ): Promise<void> {
    this.#initial.set(definition.name, await this.fromFile(definition, file, onProgress));
  }

  /** Reads a dataset that belongs to one sandbox instead of an environment. @throws Error naming service and file */
  async fromFile(
    definition: AnyTwinDefinition,
    file: string,
    onProgress?: DatasetSource["onProgress"],
  ): Promise<Dataset> {
    if (!definition.takesDataset) throw new Error(`service "${definition.name}" takes no dataset`);
    const library = await this.#libraries.get(definition.takesDataset);
    return library.fromFile(file, onProgress);
  }

  /** The organisation's environments that have, or had, a dataset; the first is always among them. */
  names(organisation: string): string[] {
    const places = [...(this.#slots.get(organisation)?.keys() ?? [])];
    return [...new Set([FIRST_ENVIRONMENT, ...places.map((key) => key.slice(0, key.indexOf("/")))])];
  }

  /** Whether the dataset of a place is being uploaded, replaced or deleted. */
  isChanging(place: DatasetPlace): boolean {
    return this.#slot(place).state === "changing";
  }

  /** The dataset that sandboxes use now. */
  dataset(place: DatasetPlace): Dataset | undefined {
    const slot = this.#slot(place);
    return slot.state === "absent" ? undefined : slot.dataset;
  }

  /**
   * Makes a dataset from a file and switches the sandboxes to it; an invalid file changes nothing.
   * @throws DatasetConflict when there is one that is kept, DatasetRefusal, DatasetTooLarge, the signal's reason or the source's error
   */
  async upload(
    place: DatasetPlace,
    definition: AnyTwinDefinition,
    source: DatasetSource,
    signal: AbortSignal,
    reset: ResetSandboxes,
    existing: ExistingDataset = "keep",
  ): Promise<{ dataset: Dataset; sandboxes: ResetSandbox[] }> {
    const before = this.#slot(place);
    if (before.state === "changing" || (before.state === "present" && existing === "keep")) {
      throw new DatasetConflict(conflictMessage(before, place));
    }
    const slots = this.#slotsOf(place.organisation);
    const taken = [...slots.values()].filter(({ state }) => state !== "absent").length;
    if (before.state === "absent" && taken >= MAX_DATASETS) {
      throw new DatasetConflict(`an organisation has at most ${MAX_DATASETS} datasets; delete one first`);
    }
    const replaced = before.state === "present" ? before.dataset : undefined;
    slots.set(keyOf(place), { state: "changing", dataset: replaced });
    const either = linkSignals(signal, this.#stopping.signal);
    const uploading = this.#make(definition, source, either.signal).finally(either.unlink);
    this.#track(uploading);
    let dataset: Dataset;
    try {
      dataset = await uploading;
    } catch (error) {
      slots.set(keyOf(place), before);
      throw error;
    }
    slots.set(keyOf(place), { state: "changing", dataset });
    const sandboxes = await reset(place);
    slots.set(keyOf(place), { state: "present", dataset });
    if (replaced) await this.#release(place, replaced);
    return { dataset, sandboxes };
  }

  /** @returns `undefined` when there is none. @throws DatasetConflict while it is changing */
  async remove(place: DatasetPlace, reset: ResetSandboxes): Promise<ResetSandbox[] | undefined> {
    const before = this.#slot(place);
    if (before.state === "absent") return undefined;
    if (before.state === "changing") throw new DatasetConflict(conflictMessage(before, place));
    const slots = this.#slotsOf(place.organisation);
    slots.set(keyOf(place), { state: "changing", dataset: undefined });
    const sandboxes = await reset(place);
    slots.set(keyOf(place), { state: "absent" });
    await this.#release(place, before.dataset);
    return sandboxes;
  }

  /** Datasets of the environment file are shared by all organisations, so they are not released here. */
  async #release({ service }: DatasetPlace, dataset: Dataset): Promise<void> {
    if (dataset !== this.#initial.get(service)) await dataset.release();
  }

  /** Aborts uploads and releases every dataset. Call it after the sandboxes have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the twins are stopping"));
    await Promise.allSettled(this.#uploads);
    await this.#libraries.close();
  }

  async #make(definition: AnyTwinDefinition, source: DatasetSource, signal: AbortSignal): Promise<Dataset> {
    if (!definition.takesDataset) throw new Error(`service "${definition.name}" takes no dataset`);
    signal.throwIfAborted();
    const library = await this.#libraries.get(definition.takesDataset);
    return library.fromStream(source, signal);
  }

  #track(uploading: Promise<unknown>): void {
    this.#uploads.add(uploading);
    const over = () => this.#uploads.delete(uploading);
    uploading.then(over, over);
  }

  #slot(place: DatasetPlace): Slot {
    const slot = this.#slots.get(place.organisation)?.get(keyOf(place));
    if (slot) return slot;
    const dataset = place.environment === FIRST_ENVIRONMENT ? this.#initial.get(place.service) : undefined;
    return dataset ? { state: "present", dataset } : { state: "absent" };
  }

  #slotsOf(organisation: string): Map<string, Slot> {
    return getOrAdd(this.#slots, organisation, () => new Map());
  }
}

/** Unambiguous, since neither name contains a slash. */
const keyOf = ({ environment, service }: DatasetPlace) => `${environment}/${service}`;

function conflictMessage({ state }: Slot, { environment, service }: DatasetPlace): string {
  const what = `${service} in environment ${environment}`;
  if (state === "changing") return `the dataset of ${what} is being changed; try again when that is over`;
  return `there is a dataset for ${what} already; delete it first, or replace it with ?replace=true`;
}
