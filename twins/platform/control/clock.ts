/** `/sim/clock` and `/sim/reset-world`, which act on the whole sandbox, whichever twin is addressed. */
import { z } from "zod";
import { type ClockSetting, wallTime } from "../base/clock.ts";
import { readBodyAs } from "../http/errors.ts";
import { type Operation, operation } from "../http/operation.ts";
import type { ControlTarget } from "./target.ts";

/** At this speed a day passes in less than nine seconds. */
const MAX_SPEED = 10_000;
const EARLIEST = "1970-01-01T00:00:00.000Z";
const LATEST = "2999-12-31T23:59:59.999Z";

const clockBody = z
  .strictObject({
    /** An ISO 8601 time with its UTC offset; read as milliseconds since the epoch. */
    now: z.iso
      .datetime({ offset: true, error: "must be an instant such as 2026-03-29T01:59:30Z" })
      .transform((text) => Date.parse(text))
      .refine((ms) => ms >= Date.parse(EARLIEST) && ms <= Date.parse(LATEST), {
        message: `must be from ${EARLIEST} to ${LATEST}`,
      })
      .optional(),
    frozen: z.boolean({ error: "must be true or false" }).optional(),
    speed: z
      .number({ error: `must be a number above 0 and at most ${MAX_SPEED}` })
      .positive(`must be above 0; to stop the clock, send "frozen": true`)
      .max(MAX_SPEED, `must be at most ${MAX_SPEED}`)
      .optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    message: "takes at least one of now, frozen and speed; POST /sim/reset-world returns to live time",
  })
  .refine((body) => !(body.frozen === true && body.speed !== undefined), {
    path: ["speed"],
    message: "a frozen clock has no speed; send one of frozen and speed",
  });

function settingOf({ now, frozen = false, speed = 1 }: z.output<typeof clockBody>): ClockSetting {
  return { ...(now === undefined ? {} : { now }), speed: frozen ? 0 : speed };
}

function answer({ sandbox }: ControlTarget) {
  const wall = new Date(wallTime()).toISOString();
  return { status: 200, body: { ...sandbox.clock.describe(), wall } };
}

export const clockOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "clock.read",
    method: "GET",
    path: "/sim/clock",
    surface: "rest",
    summary: "The sandbox's time, how it runs (live, offset, frozen, sped), and the machine's time.",
    handle: (_request, target) => answer(target),
  }),
  operation<ControlTarget>({
    id: "clock.set",
    method: "PUT",
    path: "/sim/clock",
    surface: "rest",
    summary: "Sets the sandbox's time, freezes it or speeds it up; what is not named has its default.",
    handle(request, target) {
      const body = readBodyAs(request, clockBody, '{"now": "2026-03-29T01:59:30Z", "frozen": true}');
      if (!body.ok) return body.response;
      target.sandbox.clock.set(settingOf(body.value));
      return answer(target);
    },
  }),
  operation<ControlTarget>({
    id: "world.reset",
    method: "POST",
    path: "/sim/reset-world",
    surface: "rest",
    summary: "Returns the sandbox's clock to live time.",
    handle(_request, target) {
      target.sandbox.clock.setLive();
      return answer(target);
    },
  }),
];
