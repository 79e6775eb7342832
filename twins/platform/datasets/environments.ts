/**
 * The environments of each organisation, and the datasets of their services: one each. A sandbox belongs to an
 * environment and starts with its datasets; whoever changes one resets the sandboxes that run.
 */

import { linkSignals } from "../base/deadline.ts";
import { getOrAdd } from "../base/get-or-add.ts";
import type { Dataset, DatasetSource } from "../twin/dataset.ts";
import type { AnyTwinDefinition } from "../twin/twin.ts";
import type { Libraries } from "./libraries.ts";

/** The environment of a sandbox that names none; the environment file says what its datasets are at the start. */
export const FIRST_ENVIRONMENT = "dev";

/** Most datasets of an organisation at a time. */
const MAX_DATASETS = 64;

/** Which dataset: there is one of a service in an environment. */
export interface DatasetPlace {
  organisation: string;
  environment: string;
  service: string;
}

/** What is at a place. */
type Slot =
  | { state: "present"; dataset: Dataset }
  /** Being uploaded, or put to use, or taken out of it; sandboxes have `dataset` until that is over. */
  | { state: "changing"; dataset: Dataset | undefined }
  /** Deleted: what the environment file says does not come back. */
  | { state: "absent" };

/** Why a dataset was not taken or not deleted, as the routes answer it. */
export class DatasetConflict extends Error {}

/** A sandbox that was put to another dataset, or was not. */
export interface ResetSandbox {
  id: string;
  /** Why it is not reset. */
  problem?: string;
}

/** What an upload does where there is a dataset. */
export type ExistingDataset = "keep" | "replace";

/** Puts the sandboxes of an environment that have the service to its dataset as it is now. */
export type ResetSandboxes = (place: DatasetPlace) => Promise<ResetSandbox[]>;

export class Environments {
  readonly #libraries: Libraries;
  readonly #slots = new Map<string, Map<string, Slot>>();
  /** What the environment file names, by service. */
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

  /** A dataset of no environment, for a sandbox of its own. @throws Error naming service and file */
  async fromFile(
    definition: AnyTwinDefinition,
    file: string,
    onProgress?: DatasetSource["onProgress"],
  ): Promise<Dataset> {
    if (!definition.takesDataset) throw new Error(`service "${definition.name}" takes no dataset`);
    const library = await this.#libraries.get(definition.takesDataset);
    return library.fromFile(file, onProgress);
  }

  /** The dataset sandboxes have now. */
  dataset(place: DatasetPlace): Dataset | undefined {
    const slot = this.#slot(place);
    return slot.state === "absent" ? undefined : slot.dataset;
  }

  /**
   * Makes a dataset of a file and puts the sandboxes to it; a file that is wrong changes nothing.
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

  /** What the environment file names is every organisation's. */
  async #release({ service }: DatasetPlace, dataset: Dataset): Promise<void> {
    if (dataset !== this.#initial.get(service)) await dataset.release();
  }

  /** Ends uploads, and lets go of everything. The sandboxes have to have ended before. */
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

/** Neither name has a slash in it. */
const keyOf = ({ environment, service }: DatasetPlace) => `${environment}/${service}`;

function conflictMessage({ state }: Slot, { environment, service }: DatasetPlace): string {
  const what = `${service} in environment ${environment}`;
  if (state === "changing") return `the dataset of ${what} is being changed; try again when that is over`;
  return `there is a dataset for ${what} already; delete it first, or replace it with ?replace=true`;
}
