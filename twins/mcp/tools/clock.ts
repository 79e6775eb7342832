/** The sandbox's clock, from which every timestamp of its twins comes. */
import { z } from "zod";
import { isoTime } from "../arguments.ts";
import { ControlPlanes, ToolError } from "../project.ts";
import { defineTool } from "../tool.ts";

const clock = {
  now: z.string().describe("The sandbox's time"),
  mode: z.string().describe("live, offset, frozen or sped"),
  speed: z.number(),
  wall: z.string().describe("The machine's time"),
};
const clockAnswer = z.object(clock);

/** Every sandbox has this twin, and the clock is the whole sandbox's. */
const ANY_TWIN = "engine";

export const clockTools = [
  defineTool({
    name: "read_clock",
    title: "Read the clock",
    description: "The time of the twins and how it runs. Use it when timestamps are unexpected.",
    kind: "read",
    input: {},
    output: clock,
    async run(_input, { project }) {
      return clockAnswer.parse(await new ControlPlanes(project).ofTwin("GET", ANY_TWIN, "clock"));
    },
  }),

  defineTool({
    name: "set_clock",
    title: "Set, freeze or advance the clock",
    description:
      "Sets the time of all twins (now), moves it on (advance_ms), stops it (frozen) or speeds it up (speed); live gives them the machine's time again. Use it for what depends on the time of day, or on time that passes. Audio is not affected.",
    kind: "add",
    input: {
      now: isoTime.optional(),
      advance_ms: z
        .int()
        .optional()
        .describe("Moves it by so much and keeps how it runs; not beside the others"),
      frozen: z.boolean().optional().describe("true: it stands still"),
      speed: z.number().positive().max(10_000).optional().describe("So many times faster than the machine's"),
      live: z.literal(true).optional().describe("The machine's time again; not beside the others"),
    },
    output: clock,
    async run({ live, advance_ms, ...setting }, { project }) {
      const planes = new ControlPlanes(project);
      const given = [live, advance_ms, Object.values(setting).find((value) => value !== undefined)];
      if (given.filter((value) => value !== undefined).length !== 1) {
        throw new ToolError("give live, or advance_ms, or at least one of now, frozen and speed");
      }
      if (live) return clockAnswer.parse(await planes.ofTwin("POST", ANY_TWIN, "reset-world"));
      const body = advance_ms === undefined ? setting : await advanced(planes, advance_ms);
      return clockAnswer.parse(await planes.ofTwin("PUT", ANY_TWIN, "clock", {}, body));
    },
  }),
];

/** The setting that moves the clock and leaves it running as it does. */
async function advanced(planes: ControlPlanes, byMs: number) {
  const { now, mode, speed } = clockAnswer.parse(await planes.ofTwin("GET", ANY_TWIN, "clock"));
  const moved = new Date(Date.parse(now) + byMs).toISOString();
  return mode === "frozen" ? { now: moved, frozen: true } : { now: moved, speed };
}
