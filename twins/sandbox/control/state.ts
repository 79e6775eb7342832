/** A twin's state as a whole: snapshot and reset. */
import { z } from "zod";
import { readBodyAs } from "../errors.ts";
import { type Operation, operation } from "../operation.ts";
import type { ControlTarget } from "./target.ts";

const resetBody = z
  .strictObject({
    profile: z.string().optional(),
    data: z.record(z.string(), z.array(z.record(z.string(), z.unknown()))).optional(),
  })
  .refine(
    (body) => body.profile === undefined || body.data === undefined,
    "takes one of profile and data, not both",
  )
  .default({});

export const stateOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "snapshot",
    method: "POST",
    path: "/sim/snapshot",
    surface: "rest",
    summary: "The whole state, table by table; its tables can be given back to reset.",
    async handle(_request, { sandbox, twin }) {
      const { world } = twin.running;
      const state_version = world.stateVersion;
      const tables = await world.dump();
      return {
        status: 200,
        body: { state_version, clock: sandbox.clock.describe(), tables },
      };
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
      const { world } = twin.running;
      if (body.value.data) await world.load(body.value.data);
      else await twin.reset(body.value.profile);
      return { status: 200, body: { state_version: world.stateVersion, counts: await world.counts() } };
    },
  }),
];
