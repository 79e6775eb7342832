import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TurnEffect } from "../../session/turn-types.ts";
import { ASSISTANT } from "./live-call.ts";
import { Drive } from "./machine-drive.ts";

/** `PROPERTY_RUNS` in the environment asks for more. */
const RUNS = Number(process.env.PROPERTY_RUNS ?? 300);
/** For everything that waits to be said. */
const LONG_ENOUGH_MS = 25 * 6_000;

type Step =
  | { type: "speak"; ms: number }
  | { type: "wait"; ms: number }
  | { type: "say"; cutsIn: boolean; interruptible: boolean }
  | { type: "reply-wanted" }
  | { type: "say-first-message" }
  | { type: "tools"; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("speak"), ms: fc.integer({ min: 100, max: 3_000 }) }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("wait"), ms: fc.integer({ min: 10, max: 4_000 }) }) },
  fc.record({ type: fc.constant("say"), cutsIn: fc.boolean(), interruptible: fc.boolean() }),
  fc.record({ type: fc.constant("reply-wanted") }),
  fc.record({ type: fc.constant("say-first-message") }),
  fc.record({ type: fc.constant("tools"), ms: fc.integer({ min: 10, max: 2_000 }) }),
);

const call = fc.record({
  steps: fc.array(step, { maxLength: 25 }),
  numWords: fc.constantFrom(0, 2),
  greets: fc.boolean(),
  firstMessage: fc.constantFrom("Welcome.", undefined),
  texts: fc.infiniteStream(fc.constantFrom("Hello there.", "okay", "and then", "number nine", null)),
  readyAfterMs: fc.integer({ min: 0, max: 1_500 }),
  speaksMs: fc.constantFrom(undefined, 0, 10, 700, 4_000),
});
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

function drive(drawn: Call, leftMs: number): Drive {
  const { steps, numWords, greets, firstMessage, texts, readyAfterMs, speaksMs } = drawn;
  const said = texts[Symbol.iterator]();
  const drive = new Drive({
    plan: {
      silenceTimeoutSeconds: 3_600,
      ...(firstMessage === undefined ? {} : { firstMessage }),
      firstMessageMode: greets ? "assistant-speaks-first" : "assistant-waits-for-user",
      stopSpeakingPlan: { ...ASSISTANT.stopSpeakingPlan, numWords },
    },
    hears: () => said.next().value ?? null,
    readyAfterMs,
    speaksMs: () => speaksMs,
  });
  for (const step of steps) {
    if (step.type === "speak") drive.speak(step.ms);
    else if (step.type === "wait") drive.run(drive.nowMs + step.ms);
    else if (step.type === "reply-wanted" || step.type === "say-first-message") drive.send(step);
    else if (step.type === "tools") drive.runTools(step.ms);
    else drive.send({ ...step, text: "Listen.", endsCall: false });
  }
  drive.run(drive.nowMs + leftMs);
  drive.send({ type: "end", reason: "customer-ended-call", closeCode: 1000 });
  return drive;
}

function updates(drive: Drive, role: "user" | "assistant") {
  return drive.log.flatMap((effect) =>
    effect.type === "speech-update" && effect.role === role ? [effect] : [],
  );
}

describe("in every call, for any sequence of events", () => {
  const always = (property: (drive: Drive, drawn: Call) => void, leftMs = 3_000) =>
    fc.assert(
      fc.property(call, (drawn) => property(drive(drawn, leftMs), drawn)),
      { numRuns: RUNS },
    );

  test.each(["user", "assistant"] as const)("the %s starts and stops in turn, and ends stopped", (role) => {
    always((drive) => {
      const edges = updates(drive, role).map(({ status, turn }) => `${status} ${turn}`);
      expect(edges.length % 2).toBe(0);
      for (let at = 0; at < edges.length; at += 2) {
        expect(edges[at]).toMatch(/^started/);
        expect(edges[at + 1]).toBe(edges[at]?.replace("started", "stopped"));
      }
    });
  });

  test("turn numbers never fall, and each new turn of the user has the next number", () => {
    always((drive) => {
      for (const role of ["user", "assistant"] as const) {
        const turns = updates(drive, role).map(({ turn }) => turn);
        expect(turns).toEqual([...turns].sort((a, b) => a - b));
      }
      const opened = drive.log.flatMap((effect) => (effect.type === "open-turn" ? [effect.turn] : []));
      expect(opened).toEqual(opened.map((_, at) => at + (opened[0] ?? 0)));
    });
  });

  test("one job at a time: prepared, then either dropped or started, then either played out or cut", () => {
    always((drive) => {
      let current: number | undefined;
      const fates = new Map<number, TurnEffect["type"][]>();
      for (const effect of drive.log) {
        if (!("job" in effect)) continue;
        const { id } = effect.job;
        if (effect.type === "prepare") {
          const before = fates.get(current ?? -1) ?? ["abandon"];
          expect(before.some((type) => type === "abandon" || type === "start-audio")).toBe(true);
          expect(fates.has(id)).toBe(false);
          current = id;
        } else if (effect.type !== "assistant-final") {
          expect(id).toBe(current);
        }
        fates.set(id, [...(fates.get(id) ?? []), effect.type]);
      }
      for (const [, types] of fates) {
        const heard = types.includes("start-audio");
        expect(types.filter((type) => type === "assistant-final")).toHaveLength(heard ? 1 : 0);
        expect(types.includes("abandon")).toBe(!heard);
      }
    });
  });

  test("recognised speech that is no acknowledgement is answered, by its own reply or that to a later turn", () => {
    always((drive) => {
      drive.log.forEach((effect, at) => {
        if (effect.type !== "close-turn" || effect.text === null || effect.text === "okay") return;
        const answers = drive.log
          .slice(at)
          .some(
            (later) =>
              later.type === "prepare" && later.job.type === "reply" && later.job.turn >= effect.said.turn,
          );
        expect(answers).toBe(true);
      });
    }, LONG_ENOUGH_MS);
  });

  test("an assistant that waits for the user answers with its first message until that is heard, then with the model", () => {
    always((drive, { greets, firstMessage, speaksMs, steps }) => {
      if (steps.some(({ type }) => type === "reply-wanted" || type === "say-first-message")) return;
      const given = (effect: TurnEffect) =>
        "job" in effect && effect.job.type === "reply" ? effect.job.text : undefined;
      const replies = drive.log.filter(
        (effect) =>
          effect.type === "prepare" && effect.job.type === "reply" && effect.job.answers !== undefined,
      );
      const heardAt = drive.log.findIndex(
        (effect) => effect.type === "start-audio" && given(effect) !== undefined,
      );
      const waits = !greets && firstMessage !== undefined;
      for (const reply of replies) {
        const isFirst = waits && (heardAt === -1 || drive.log.indexOf(reply) < heardAt);
        expect(given(reply)).toBe(isFirst ? firstMessage : undefined);
      }
      const heard = drive.log.filter(
        (effect) => effect.type === "start-audio" && given(effect) !== undefined,
      );
      expect(heard.length).toBeLessThanOrEqual(1);
      const answered = drive.log.some(({ type }) => type === "close-turn") && speaksMs !== undefined;
      if (heard.length === 1) expect(waits && answered).toBe(true);
    });
  });

  test("a turn of the assistant never starts without ending: every job with words starts and stops, spoken or not", () => {
    always((drive, { speaksMs }) => {
      const ready = drive.log.filter(({ type }) => type === "start-audio").length;
      expect(updates(drive, "assistant")).toHaveLength(2 * ready);
      if (speaksMs === undefined) expect(ready).toBe(0);
      else {
        const prepared = drive.log.filter(({ type }) => type === "prepare").length;
        const abandoned = drive.log.filter(({ type }) => type === "abandon").length;
        expect(ready).toBe(prepared - abandoned);
      }
    });
  });

  test("the end comes last", () => {
    always((drive) => {
      expect(drive.log.findIndex(({ type }) => type === "end-call")).toBe(drive.log.length - 1);
    });
  });

  test("the assistant never starts while the user speaks, except to greet or by barge-in rules", () => {
    always((drive) => {
      let userIsSpeaking = false;
      for (const effect of drive.log) {
        if (effect.type === "open-turn") userIsSpeaking = true;
        if (effect.type === "close-turn") userIsSpeaking = false;
        if (effect.type === "start-audio" && effect.job.type === "reply") expect(userIsSpeaking).toBe(false);
      }
    });
  });
});
