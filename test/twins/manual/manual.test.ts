/** Every sentence of every manual is proved by the test registered under its id; a sentence without one fails here. */

import { commonManual } from "@offhook/platform/control/common-manual";
import { loadTwins } from "@offhook/platform/twin/twin-entry";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { registry } from "../../../twins/registry.ts";
import { type EveryTwin, startEveryTwin, twinDefinitions, twinNames } from "../../support/every-twin.ts";
import { commonProofs } from "./common-proofs.ts";
import { clientProofs, fileProofs, journalProofs } from "./file-and-client-proofs.ts";
import type { Proofs } from "./proof.ts";
import { elasticsearchProofs } from "./search-proofs.ts";
import { splunkProofs } from "./splunk-proofs.ts";
import { splunkSearchProofs } from "./splunk-search-proofs.ts";
import { engineProofs, postgresProofs, vapiProofs } from "./twin-proofs.ts";
import { vapiControlProofs } from "./vapi-control-proofs.ts";

const shared: Proofs = { ...commonProofs, ...fileProofs, ...clientProofs, ...journalProofs };
const own: Record<string, Proofs> = {
  elasticsearch: elasticsearchProofs,
  engine: engineProofs,
  postgres: postgresProofs,
  splunk: { ...splunkProofs, ...splunkSearchProofs },
  vapi: { ...vapiProofs, ...vapiControlProofs },
};

function ownSentences(name: string) {
  const manual = twinDefinitions().find((definition) => definition.name === name)?.manual;
  return manual ? [...manual.credentials, ...manual.repeatedWrites, ...(manual.notes ?? [])] : [];
}

let every: EveryTwin;
beforeAll(async () => {
  every = await startEveryTwin();
});
afterAll(() => every.stop());

test("every twin of the registry has a manual that is proved here", async () => {
  expect(registry.map(({ name }) => name).sort()).toEqual([...twinNames].sort());
  for (const { name, manual } of await loadTwins(registry)) {
    expect(manual?.credentials.length, `credentials of ${name}`).toBeGreaterThan(0);
    expect(manual?.repeatedWrites.length, `repeated writes of ${name}`).toBeGreaterThan(0);
  }
});

test("every sentence has a proof, and every proof a sentence", () => {
  const ids = (sentences: readonly { id: string }[]) => sentences.map(({ id }) => id).sort();
  expect(Object.keys(shared).sort()).toEqual(ids(commonManual));
  for (const name of twinNames) expect(Object.keys(own[name] ?? {}).sort()).toEqual(ids(ownSentences(name)));
});

describe.each(twinNames)("the manual of %s", (name) => {
  beforeEach(async () => {
    const { control } = every.of(name);
    await control("DELETE", "/client");
    await control("POST", "/reset-world");
    await control("POST", "/reset");
  });

  test("is served as it is declared, and lists no operation", async () => {
    const { body, text } = await every.of(name).control("GET", "/manual");
    expect(body.control_plane).toEqual(commonManual);
    expect([...body.credentials, ...body.repeated_writes, ...body.notes]).toEqual(ownSentences(name));
    expect(body).toMatchObject({ versions: expect.any(Array), fault_statuses: expect.any(Array) });
    const { operations } = (await every.of(name).control("GET", "/operations")).body;
    for (const { path } of operations) if (path.length > 1) expect(text).not.toContain(` ${path} `);
  });

  test.each([...commonManual, ...ownSentences(name)].map(({ id, text }) => [id, text]))(
    "%s: %s",
    async (id) => {
      const proof = shared[id] ?? own[name]?.[id];
      if (!proof) throw new Error(`the sentence ${id} has no proof`);
      await proof(every.of(name), every);
    },
  );
});
