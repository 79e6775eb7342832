/** A twin's state as a whole: snapshot and reset. */
import { Readable } from "node:stream";
import { z } from "zod";
import { errorResponse, readBodyAs } from "../http/errors.ts";
import { type Operation, operation, type VendorResponse } from "../http/operation.ts";
import { Spool, SpoolFull } from "../world/spool.ts";
import { loadState, writeState } from "../world/state-source.ts";
import { readResetBody } from "./reset-body.ts";
import type { ControlTarget } from "./target.ts";

const snapshotBody = z
  .strictObject({
    /** Whether to include a hash of the tables: equal states have equal hashes. */
    content_hash: z.boolean().default(false),
  })
  .default({ content_hash: false });

export const stateOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "snapshot",
    method: "POST",
    path: "/sim/snapshot",
    surface: "rest",
    summary: "The whole state, table by table; it can be given back to reset.",
    async handle(request, target) {
      const body = readBodyAs(request, snapshotBody, '{"content_hash": true}, or no body');
      if (!body.ok) return body.response;
      const spool = new Spool(target.sandbox.snapshotBytes);
      try {
        return await snapshotResponse(target, spool, body.value);
      } catch (error) {
        await spool.clear();
        if (error instanceof SpoolFull) {
          return errorResponse(413, "snapshot_too_large", `the snapshot has ${error.message}`);
        }
        throw error;
      }
    },
  }),
  operation<ControlTarget>({
    id: "reset",
    method: "POST",
    path: "/sim/reset",
    surface: "rest",
    summary: "Puts this twin back to its start, to a profile, or to given tables.",
    spoolsBody: true,
    async handle({ spooled = new Spool(0) }, { twin }) {
      const body = await readResetBody(spooled);
      if (!body.ok) return body.response;
      const { world } = twin;
      const { profile, state } = body.value;
      if (state) await loadState(world, state);
      else await twin.reset(profile);
      twin.faults.removeAll();
      return { status: 200, body: { state_version: world.stateVersion, counts: await world.counts() } };
    },
  }),
];

async function snapshotResponse(
  { sandbox, twin }: ControlTarget,
  spool: Spool,
  { content_hash }: { content_hash: boolean },
): Promise<VendorResponse> {
  const { stateVersion, contentHash } = await writeState(
    twin.world,
    spool,
    content_hash ? "hashed" : "plain",
  );
  const head = {
    state_version: stateVersion,
    clock: sandbox.clock.describe(),
    ...(contentHash === undefined ? {} : { content_hash: contentHash }),
  };
  const beginning = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"tables":`);
  const end = Buffer.from("}");
  const body = Readable.from(
    (async function* () {
      yield beginning;
      yield* spool.read();
      yield end;
    })(),
  );
  body.once("close", () => void spool.clear());
  return {
    status: 200,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "content-length": String(beginning.length + spool.bytes + end.length),
    },
    body,
  };
}
