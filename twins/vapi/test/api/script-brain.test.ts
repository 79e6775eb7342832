import { processorMsOf } from "@offhook/platform/testing/processor-time";
import fc from "fast-check";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { withEndCallTools } from "../../providers/built-in-tools.ts";
import type { BrainStep, ConversationMessage } from "../../providers/provider.ts";
import { type ScriptRule, scriptRules } from "../../providers/script.ts";
import { createScriptBrain } from "../../providers/script-brain.ts";
import { matchesWords, words } from "../../providers/word-match.ts";

const log = pino({ level: "silent" });
const user = (content: string): ConversationMessage => ({ role: "user", content });

function brainOf(rules: unknown) {
  const parsed: ScriptRule[] = scriptRules.parse(rules);
  return createScriptBrain({ rulesFor: () => parsed, log });
}

async function ask(
  brain: ReturnType<typeof brainOf>,
  conversation: ConversationMessage[],
): Promise<BrainStep[]> {
  const request = {
    simulationId: undefined,
    model: { provider: "openai", model: "gpt-4.1", temperature: 0.5, maxTokens: 250 },
    conversation,
    tools: [],
  };
  const steps: BrainStep[] = [];
  for await (const step of brain.reply(request, new AbortController().signal)) steps.push(step);
  return steps;
}

/** What the brain calls, and what it says once those calls have these results, in order. */
async function answered(
  rules: unknown,
  heard: string,
  results: (object | string | null)[],
): Promise<BrainStep[]> {
  const brain = brainOf(rules);
  const [step] = await ask(brain, [user(heard)]);
  if (step?.type !== "call-tools") throw new Error("no tools were called");
  const { calls } = step;
  const tools = calls.map((call, index): ConversationMessage => {
    const result = results[index] ?? null;
    const content = result === null || typeof result === "string" ? result : JSON.stringify(result);
    return { role: "tool", toolCallId: call.id, name: call.name, content };
  });
  return ask(brain, [user(heard), { role: "assistant", content: "", toolCalls: calls }, ...tools]);
}

describe("words", () => {
  test.each([
    [
      "hello i need to open an incident for *",
      "Hello, I need to open an incident for the checkout service.",
      true,
    ],
    ["hello i need to open an incident for *", "Well hello, I need to open an incident for checkout", false],
    ["* severity two", "Sorry, I meant severity two.", true],
    ["* severity two *", "severity two", true],
    ["*", "", true],
    ["* a * b", "a x a y b", true],
    ["* a b", "a x a b a b", true],
    ["hello", "", false],
    ["hello hello", "hello", false],
    ["i'd call it", "I'd call it!", true],
  ])("%j hears %j: %s", (pattern, heard, fits) => {
    expect(matchesWords(pattern, heard)).toBe(fits);
  });

  test("a pattern always matches its own words, and with * any words around them", () => {
    const sentence = fc.array(fc.constantFrom("open", "an", "incident", "a", "b"), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(sentence, sentence, sentence, (middle, before, after) => {
        const text = middle.join(" ");
        expect(matchesWords(text, text.toUpperCase())).toBe(true);
        expect(matchesWords(`* ${text} *`, [...before, text, ...after].join(", "))).toBe(true);
        expect(words(text)).toEqual(middle);
      }),
    );
  });

  test("hostile text stays text: a long near miss is judged quickly", () => {
    const heard = `${"a ".repeat(4000)}`;
    const judge = () => expect(matchesWords(`${"* a ".repeat(100)}* never`, heard)).toBe(false);
    expect(processorMsOf(judge)).toBeLessThan(10_000);
  });
});

describe("the script", () => {
  test("the first matching rule answers; a list matches when one of its patterns does", async () => {
    const brain = brainOf([
      { heard: ["good morning", "hello *"], say: "First." },
      { heard: "*", say: "Second." },
    ]);
    expect(await ask(brain, [user("Hello there")])).toEqual([{ type: "say", text: "First." }]);
    expect(await ask(brain, [user("Bye")])).toEqual([{ type: "say", text: "Second." }]);
  });

  test("a once rule applies to one turn of each call", async () => {
    const rules = [
      { heard: "*", say: "First.", once: true },
      { heard: "*", say: "Then.", end_call: true },
    ];
    const brain = brainOf(rules);
    expect(await ask(brain, [user("a")])).toEqual([{ type: "say", text: "First." }]);
    expect(await ask(brain, [user("a")])).toEqual([{ type: "say", text: "Then." }, { type: "end-call" }]);
    expect(await ask(brainOf(rules), [user("a")])).toEqual([{ type: "say", text: "First." }]);
  });

  test("all calls of a rule go out in one step with fresh ids, and their results fill what is said", async () => {
    const rules = [
      {
        heard: "*",
        call: [{ tool: "who_is_on_call", arguments: { service: "checkout" } }, { tool: "incident_status" }],
        say: "{{who_is_on_call.engineer.name}} works on it, severity {{ incident_status.severity }}, {{incident_status.tags.1}}.",
      },
    ];
    const brain = brainOf(rules);
    const [first] = await ask(brain, [user("x")]);
    const [second] = await ask(brain, [user("x")]);
    if (first?.type !== "call-tools" || second?.type !== "call-tools")
      throw new Error("no tools were called");
    expect(first.calls).toMatchObject([
      { name: "who_is_on_call", arguments: { service: "checkout" } },
      { name: "incident_status", arguments: {} },
    ]);
    const ids = [...first.calls, ...second.calls].map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^call_[A-Za-z0-9]{24}$/);

    expect(
      await answered(rules, "x", [{ engineer: { name: "Ada" } }, { severity: 2, tags: ["a", "b"] }]),
    ).toEqual([{ type: "say", text: "Ada works on it, severity 2, b." }]);
  });

  test.each([
    [[{ error: "no such service" }], "Failed: no such service"],
    [[null], "Failed: unknown"],
    [[{ name: "Ada" }], "Ada"],
    [[{}], "unknown"],
  ])("results %j are said as %j", async (results, text) => {
    const rules = [
      { heard: "*", call: [{ tool: "t" }], say: "{{t.name}}", say_on_error: "Failed: {{t.error}}" },
    ];
    expect(await answered(rules, "x", results)).toEqual([{ type: "say", text }]);
  });

  test("without say_on_error a failure is still spoken", async () => {
    const rules = [{ heard: "*", call: [{ tool: "t" }], say: "{{t.name}}" }];
    expect(await answered(rules, "x", [null])).toEqual([{ type: "say", text: "Sorry, that did not work." }]);
  });

  test("without a matching rule or a script the caller is told so", async () => {
    expect(await ask(brainOf([{ heard: "hello", say: "Hi." }]), [user("bye")])).toEqual([
      { type: "say", text: "Sorry, I did not catch that." },
    ]);
    const none = createScriptBrain({ rulesFor: () => undefined, log });
    expect(await ask(none, [user("hello")])).toEqual([
      { type: "say", text: "Sorry, I have no script for this call." },
    ]);
  });
});

test("a call of the endCall tool ends the call instead of going to a webhook", async () => {
  const brain = withEndCallTools(
    brainOf([{ heard: "*", call: [{ tool: "hang_up" }] }]),
    new Set(["hang_up"]),
  );
  expect(await ask(brain, [user("bye")])).toEqual([{ type: "end-call" }]);
});
