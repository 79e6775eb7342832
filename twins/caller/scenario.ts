/** The schema of a scenario: what the caller does, what the scripted brain answers, what the call must lead to. */
import { z } from "zod";
import { OUTCOMES } from "./call-report.ts";

const ms = z.number().int().min(0).max(600_000);
const name = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "use lower case letters, digits and hyphens, such as open-incident");
const json = z.record(z.string(), z.unknown());

const ACTIONS = ["say", "stay_silent", "hang_up"] as const;
const SAY_DETAILS = ["after_ms", "interrupt_after_ms", "hang_up_after_ms"] as const;

/** One thing the caller does; exactly one of `say`, `stay_silent` and `hang_up`. */
const turn = z
  .strictObject({
    /** Name of a sample to say when the callee's turn is over. */
    say: name.optional(),
    /** Hesitation before it; default 200. */
    after_ms: ms.optional(),
    /** Interrupt the callee's turn after this much of it. */
    interrupt_after_ms: ms.optional(),
    /** Hang up in the middle of the utterance, after this much of it. */
    hang_up_after_ms: ms.optional(),
    /** Milliseconds, or until the callee ends the call. */
    stay_silent: z.union([ms, z.literal("until_hang_up")]).optional(),
    hang_up: z.enum(["at_once", "after_reply"]).optional(),
  })
  .superRefine((value, context) => {
    const actions = ACTIONS.filter((action) => value[action] !== undefined);
    if (actions.length !== 1) {
      const found = actions.length === 0 ? "none" : actions.join(" and ");
      context.addIssue({
        code: "custom",
        message: `has exactly one of say, stay_silent and hang_up; found ${found}`,
      });
    }
    for (const detail of SAY_DETAILS) {
      if (value[detail] === undefined || value.say !== undefined) continue;
      context.addIssue({ code: "custom", path: [detail], message: "belongs to say, which is not here" });
    }
  });

const expectedToolCall = z.strictObject({
  tool: z.string().min(1),
  /** Members that the arguments must have; `*` in a text stands for any text. */
  arguments: json.optional(),
  /** Members that the result must have. */
  result: json.optional(),
});

const expectedRows = z.strictObject({
  table: z.string().min(1),
  /** Column values of the rows to count; texts may use `{{tool.path}}`. */
  where: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  count: z.number().int().min(0),
});

/** Requests to a twin during the call. */
const expectedRequests = z.strictObject({
  /** Service name, such as postgres. */
  twin: z.string().min(1),
  /** Members of the `/sim/requests` records to count; `*` in a text stands for any text, `{{tool.path}}` is filled in. */
  where: json.default({}),
  count: z.number().int().min(0),
});

/** What the call must lead to. Members that are not named are not checked; a completed call must reach every step. */
const expectations = z.strictObject({
  outcome: z.enum(OUTCOMES).default("completed"),
  ended_by: z.enum(["caller", "callee"]).optional(),
  /** The runtime's own reason, such as silence-timed-out. */
  ended_reason: z.string().optional(),
  /** Close code of the callee; default 1000. */
  close_code: z.number().int().optional(),
  /** All tool calls, in order. */
  tool_calls: z.array(expectedToolCall).optional(),
  /** The recognised utterances of the caller, all of them in order; each entry is a part of one. */
  heard: z.array(z.string().min(1)).optional(),
  /** Parts of what the assistant said, in order, with gaps allowed. `{{tool.path}}` is filled in. */
  said: z.array(z.string().min(1)).optional(),
  not_said: z.array(z.string().min(1)).optional(),
  /** How often the caller interrupted the assistant on purpose. */
  interruptions: z.number().int().min(0).optional(),
  /** Maximum time from the caller's last audible sample to the first one heard, in any turn; judged at speed 1 only. */
  response_ms: ms.optional(),
  /** Database rows after the call. */
  database: z.array(expectedRows).optional(),
  /** Requests to the twins, from their journals. */
  requests: z.array(expectedRequests).optional(),
});

export const scenarioSchema = z.strictObject({
  name,
  description: z.string().min(1),
  caller: z.strictObject({
    /** Framing of the voice channel; default binary. */
    protocol: z.enum(["binary", "json"]).optional(),
    wait_for_callee_first: z.boolean().default(true),
    turns: z.array(turn).min(1).max(100),
  }),
  /** Rows to add before the call, by service and table; the twins validate them. */
  given: z.record(z.string(), z.record(z.string(), z.array(json))).default({}),
  /** Faults to arm before the call and disarm after it, by service; the twins validate them. */
  faults: z.record(z.string(), z.array(json)).default({}),
  /** Rules of the scripted brain; the runtime twin validates them. */
  brain: z.array(json).min(1),
  expect: expectations.prefault({}),
});

export type ScenarioFile = z.output<typeof scenarioSchema>;
export type TurnDescription = ScenarioFile["caller"]["turns"][number];
export type Expectations = ScenarioFile["expect"];
