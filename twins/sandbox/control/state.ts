/** A twin's state as a whole: snapshot and reset. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { readBodyAs } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import type { Tables, World } from "../world.ts";
import { tablesSchema } from "./rows-schema.ts";
import type { ControlTarget } from "./target.ts";

const resetBody = z
  .strictObject({
    profile: z.string().optional(),
    data: tablesSchema.optional(),
  })
  .refine(
    (body) => body.profile === undefined || body.data === undefined,
    "takes one of profile and data, not both",
  )
  .default({});

const snapshotBody = z
  .strictObject({
    /** Whether to answer the SHA-256 of the tables too: equal states have equal hashes. */
    content_hash: z.boolean().default(false),
  })
  .default({ content_hash: false });

/** How often a dump is tried again because the state has changed beneath it. */
const DUMP_ATTEMPTS = 5;

export const stateOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "snapshot",
    method: "POST",
    path: "/sim/snapshot",
    surface: "rest",
    summary: "The whole state, table by table; its tables can be given back to reset.",
    async handle(request, { sandbox, twin }) {
      const body = readBodyAs(request, snapshotBody);
      if (!body.ok) return body.response;
      const { stateVersion, tables } = await settledDump(twin.world);
      const clock = sandbox.clock.describe();
      const hash = body.value.content_hash ? { content_hash: contentHash(tables) } : {};
      return { status: 200, body: { state_version: stateVersion, clock, ...hash, tables } };
    },
  }),
  operation<ControlTarget>({
    id: "reset",
    method: "POST",
    path: "/sim/reset",
    surface: "rest",
    summary: "Puts this twin back to its start, to a profile, or to given tables.",
    async handle(request, { twin }) {
      const body = readBodyAs(request, resetBody);
      if (!body.ok) return body.response;
      const { world } = twin;
      if (body.value.data) await world.load(body.value.data);
      else await twin.reset(body.value.profile);
      twin.faults.removeAll();
      return { status: 200, body: { state_version: world.stateVersion, counts: await world.counts() } };
    },
  }),
];

/** All tables and the version they have. A dump is of one moment; of a state that never rests, the version is a lower bound. */
async function settledDump(world: World): Promise<{ stateVersion: number; tables: Tables }> {
  let stateVersion = world.stateVersion;
  let tables = await world.dump();
  for (let attempt = 1; attempt < DUMP_ATTEMPTS && world.stateVersion !== stateVersion; attempt++) {
    stateVersion = world.stateVersion;
    tables = await world.dump();
  }
  return { stateVersion, tables };
}

/** In hexadecimal, over the tables with their members in the order of their names; rows keep their order. */
function contentHash(tables: Tables): string {
  const ordered = JSON.stringify(tables, (_name, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  });
  return createHash("sha256").update(ordered).digest("hex");
}
