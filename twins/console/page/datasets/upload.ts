/** Sends a file to the twins, with progress, as the browser reads it from the disk. */
import { ApiError, queryText, refusalOf } from "../api/client.ts";
import {
  type Dataset,
  type DatasetPlace,
  type DatasetWithSample,
  datasetPath,
  type Format,
  readService,
} from "./types.ts";

/** Between two looks whether an upload that was cancelled has ended. */
const SETTLING_MS = 200;

export interface UploadRequest extends DatasetPlace {
  file: File;
  format: Format;
  /** What happens to a dataset that is there. */
  existing: "keep" | "replace";
  /** Of the file, sent so far. */
  onSent(bytes: number): void;
  signal: AbortSignal;
}

export interface UploadAnswer extends DatasetWithSample {
  /** The sandboxes that were reset to it, each with why it was not. */
  sandboxes: { id: string; problem?: string }[];
}

/**
 * `fetch` tells no progress of what it sends, so this is an XMLHttpRequest.
 * @throws ApiError with `problems` by line and column; DOMException `AbortError` when the signal aborts
 */
export function uploadFile(request: UploadRequest): Promise<UploadAnswer> {
  const { file, format, existing, onSent, signal } = request;
  const replace = existing === "replace" ? "true" : undefined;
  const query = queryText({ format, file_name: file.name, replace });
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    const cancel = () => xhr.abort();
    signal.addEventListener("abort", cancel, { once: true });
    xhr.upload.addEventListener("progress", ({ loaded }) => onSent(loaded));
    xhr.addEventListener("load", () => {
      if (xhr.status === 201) resolve(JSON.parse(xhr.responseText) as UploadAnswer);
      else reject(refusalOf(xhr.status, xhr.responseText));
    });
    xhr.addEventListener("error", () =>
      reject(new ApiError(0, "unreachable", "the connection ended before the file had arrived")),
    );
    xhr.addEventListener("abort", () => reject(new DOMException("the upload was cancelled", "AbortError")));
    xhr.addEventListener("loadend", () => signal.removeEventListener("abort", cancel));
    xhr.open("POST", `${datasetPath(request)}${query}`);
    xhr.setRequestHeader("content-type", "application/octet-stream");
    xhr.send(file);
  });
}

/** The dataset of a place once nothing changes it: the twins notice a cancelled upload a while after the browser. @throws ApiError */
export async function whenSettled(place: DatasetPlace): Promise<Dataset | undefined> {
  for (;;) {
    const service = await readService(place);
    if (!service?.changing) return service?.dataset ?? undefined;
    await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
  }
}
