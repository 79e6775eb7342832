/** Puts the documents into an index. */
import type { FuzzRequest } from "@offhook/platform/testing/fuzz/request";
import type { ComparedAnswer } from "./differences.ts";
import { documents } from "./documents.ts";

/** @throws Error when the index or a document is refused */
export async function load(
  ask: (request: FuzzRequest) => Promise<ComparedAnswer>,
  index: string,
  definition: object,
): Promise<void> {
  const lines = documents().flatMap(({ id, source }) => [{ index: { _id: id } }, source]);
  await expectDone(
    ask({
      method: "PUT",
      path: `/${index}`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(definition),
    }),
  );
  await expectDone(
    ask({
      method: "POST",
      path: `/${index}/_bulk?refresh=true`,
      headers: { "content-type": "application/x-ndjson" },
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    }),
  );
  // Deleted documents and several segments change the statistics that scores are made of.
  await ask({
    method: "POST",
    path: `/${index}/_forcemerge?max_num_segments=1`,
    headers: {},
    body: undefined,
  });
  await ask({ method: "POST", path: `/${index}/_refresh`, headers: {}, body: undefined });
}

async function expectDone(answer: Promise<ComparedAnswer>): Promise<void> {
  const { status, body } = await answer;
  const failed = typeof body === "object" && body !== null && "errors" in body && body.errors === true;
  if (status >= 300 || failed) {
    throw new Error(`the documents could not be stored: ${status} ${JSON.stringify(body).slice(0, 1_000)}`);
  }
}
