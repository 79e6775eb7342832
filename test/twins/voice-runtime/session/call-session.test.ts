import { afterEach, describe, expect, test } from "vitest";
import { echo, hangUpAll, startCall } from "./live-call.ts";

afterEach(hangUpAll);

describe("a live call", () => {
  test("greets at once, hears a turn and answers it, with the messages in the order of a recorded call", async () => {
    const call = await startCall({
      assistant: { firstMessage: "Hello, incident hotline.", firstMessageMode: "assistant-speaks-first" },
      brain: echo,
    });
    await call.brief("transcript assistant final: Hello, incident hotline.");
    await call.say(call.tone(500, 800));
    await call.brief("transcript assistant final: You said: What is the status?");
    call.command({ type: "end-call" });
    expect(await call.closed()).toBe(1000);
    expect((await call.ended).endedReason).toBe("customer-ended-call");
    expect(call.story.filter((line) => !line.includes("partial"))).toEqual([
      "status-update in-progress",
      "assistant.started",
      "speech-update assistant started 0",
      "speech-update assistant stopped 0",
      "transcript assistant final: Hello, incident hotline.",
      "conversation-update",
      "speech-update user started 1",
      "conversation-update",
      "transcript user final: What is the status?",
      "model-output",
      "voice-input",
      "speech-update assistant started 1",
      "speech-update user stopped 1",
      "speech-update assistant stopped 1",
      "transcript assistant final: You said: What is the status?",
      "conversation-update",
      "status-update ended",
    ]);
  });
});
