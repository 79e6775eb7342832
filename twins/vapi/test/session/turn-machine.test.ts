import { describe, expect, test } from "vitest";
import { ASSISTANT } from "./live-call.ts";
import { Drive } from "./machine-drive.ts";

const SPEAKS_FIRST = { firstMessage: "Welcome.", firstMessageMode: "assistant-speaks-first" } as const;
const start = ASSISTANT.startSpeakingPlan;
const stop = ASSISTANT.stopSpeakingPlan;
const say = {
  type: "say",
  source: "force-say",
  interruptible: true,
  cutsIn: false,
  endsCall: false,
} as const;

describe("first message modes", () => {
  test("assistant-speaks-first: the first message is spoken at once, as turn 0", () => {
    const drive = new Drive({ plan: SPEAKS_FIRST }).run(3_000);
    expect(drive.all("speech-update")).toEqual(["10 assistant started 0", "2010 assistant stopped 0"]);
  });

  test("assistant-waits-for-user: the user's first turn is turn 0, and the first message answers it, once", () => {
    const drive = new Drive({ plan: { firstMessage: "Welcome." } }).run(1_000);
    expect(drive.log).toEqual([]);
    drive.speak(500).run(5_000).speak(500).run(9_000);
    expect(drive.all("open-turn")).toEqual(["1100 open-turn 0", "5100 open-turn 1"]);
    expect(drive.all("start-audio")).toEqual(["1910 start-audio Welcome.", "5910 start-audio reply 1"]);
    expect(drive.all("speech-update").slice(1, 3)).toEqual([
      "1910 assistant started 0",
      "2200 user stopped 0",
    ]);
  });

  test("assistant-waits-for-user: a user who continues is greeted afterwards", () => {
    const plan = { firstMessage: "Welcome.", startSpeakingPlan: { ...start, waitSeconds: 2 } };
    const drive = new Drive({ plan }).speak(500).run(1_200).speak(500).run(9_000);
    expect(drive.all("abandon")).toEqual(["1300 abandon Welcome."]);
    expect(drive.all("start-audio")).toEqual(["3700 start-audio Welcome."]);
  });

  test.each([undefined, "", "  "])(
    "assistant-waits-for-user with the first message %j: the model answers",
    (text) => {
      const plan = text === undefined ? {} : { firstMessage: text };
      const drive = new Drive({ plan }).speak(500).run(3_000);
      expect(drive.all("start-audio")).toEqual(["910 start-audio reply 0"]);
    },
  );

  test("assistant-waits-for-user: a first message that a client requested is not repeated", () => {
    const drive = new Drive({ plan: { firstMessage: "Welcome." } });
    drive.send({ type: "say-first-message" });
    drive.run(4_000).speak(500).run(6_000);
    expect(drive.all("start-audio")).toEqual(["10 start-audio Welcome.", "4910 start-audio reply 1"]);
  });

  test("assistant-waits-for-user: the first message is interrupted only with firstMessageInterruptionsEnabled", () => {
    const interruptions = (firstMessageInterruptionsEnabled: boolean) => {
      const plan = { firstMessage: "Welcome.", firstMessageInterruptionsEnabled };
      return new Drive({ plan }).speak(500).run(1_500).speak(600).run(5_000).all("user-interrupted");
    };
    expect(interruptions(false)).toEqual([]);
    expect(interruptions(true)).toEqual(["1700 user-interrupted Welcome."]);
  });

  test("assistant-speaks-first-with-model-generated-message: the model is asked before anybody spoke", () => {
    const drive = new Drive({
      plan: { firstMessageMode: "assistant-speaks-first-with-model-generated-message" },
    });
    drive.run(100);
    expect(drive.all("start-audio")).toEqual(["10 start-audio reply 0"]);
  });

  test("the greeting does not wait for a user who already speaks; the user is answered after it", () => {
    const drive = new Drive({ plan: SPEAKS_FIRST, readyAfterMs: 300 }).speak(800).run(6_000);
    expect(drive.all("start-audio")).toEqual(["300 start-audio Welcome.", "2600 start-audio reply 1"]);
    expect(drive.all("user-interrupted")).toEqual([]);
  });
});

describe("endpointing (startSpeakingPlan)", () => {
  const turnOverAfter = (text: string | null) => {
    const drive = new Drive({ hears: () => text }).speak(1_000).run(5_000);
    return drive.log.find(({ type }) => type === "close-turn")?.atMs;
  };

  test("a finished sentence ends the turn after onPunctuationSeconds, at the earliest when the pause is noticed", () => {
    expect(turnOverAfter("What is the status?")).toBe(1_400);
  });

  test("a number at the end: onNumberSeconds", () => {
    expect(turnOverAfter("It is number nineteen")).toBe(1_500);
    expect(turnOverAfter("It is number 19")).toBe(1_500);
  });

  test("anything else, and nothing recognised: onNoPunctuationSeconds", () => {
    expect(turnOverAfter("and then")).toBe(2_500);
    expect(turnOverAfter(null)).toBe(2_500);
  });

  test("waitSeconds counts from the end of speech: the answer does not start before", () => {
    const plan = { startSpeakingPlan: { ...start, waitSeconds: 2 } };
    const drive = new Drive({ plan }).speak(1_000).run(5_000);
    expect(drive.all("prepare")).toEqual(["1400 prepare reply 0"]);
    expect(drive.all("start-audio")).toEqual(["3000 start-audio reply 0"]);
  });

  test("speech that resumes within the pause continues the turn", () => {
    const drive = new Drive({ hears: () => "I need to report" });
    drive.speak(1_000).run(1_900).speak(1_000).run(5_000);
    expect(drive.all("open-turn")).toEqual(["100 open-turn 0"]);
    expect(drive.all("close-turn")).toEqual(["4400 close-turn 0: I need to report"]);
    expect(drive.all("speech-update").slice(0, 2)).toEqual(["380 user started 0", "1700 user stopped 0"]);
  });

  test("a user who continues before the assistant is audible reopens the turn: the reply is dropped", () => {
    const drive = new Drive({ readyAfterMs: 800 }).speak(1_000).run(1_700).speak(500).run(6_000);
    expect(drive.all("abandon")).toEqual(["1800 abandon reply 0"]);
    expect(drive.all("close-turn")).toEqual([
      "1400 close-turn 0: Hello there.",
      "2600 close-turn 0: Hello there. (again)",
    ]);
    expect(drive.all("start-audio")).toEqual(["3400 start-audio reply 0"]);
  });

  test("once tools have acted on a turn, more speech is a new turn and the reply stays", () => {
    const drive = new Drive({ readyAfterMs: 3_000 }).speak(1_000).run(1_500);
    drive.send({ type: "job-tools", job: 1, running: true });
    drive.speak(500).run(10_000);
    expect(drive.all("abandon")).toEqual([]);
    expect(drive.all("open-turn")).toEqual(["100 open-turn 0", "1600 open-turn 1"]);
    expect(drive.all("start-audio")).toEqual(["4400 start-audio reply 0", "9400 start-audio reply 1"]);
  });

  test("a turn in which nothing was recognised is not answered", () => {
    const drive = new Drive({ hears: () => null }).speak(1_000).run(5_000);
    expect(drive.all("prepare")).toEqual([]);
    expect(drive.all("speech-update")).toEqual(["380 user started 0", "1700 user stopped 0"]);
  });
});

describe("barge-in (stopSpeakingPlan)", () => {
  const speaking = (plan = {}, hears: (turn: number) => string | null = () => "Hello there.") =>
    new Drive({ plan, hears, speaksMs: () => 5_000 }).speak(500).run(2_000);

  test("numWords 0: voiceSeconds of speech interrupt", () => {
    const drive = speaking().speak(600).run(3_500);
    expect(drive.all("user-interrupted")).toEqual(["2200 user-interrupted reply 0"]);
  });

  test("on interruption the audio stops, then the messages follow in order", () => {
    const drive = speaking().speak(600);
    const at = drive.log.filter(({ atMs }) => atMs === 2_200);
    expect(at.map(({ type }) => type)).toEqual([
      "speech-update",
      "cut-audio",
      "user-interrupted",
      "speech-update",
      "assistant-final",
    ]);
    expect(drive.all("speech-update").slice(-2)).toEqual(["2200 user started 1", "2200 assistant stopped 0"]);
  });

  test("speech shorter than voiceSeconds does not interrupt", () => {
    const plan = { stopSpeakingPlan: { ...stop, voiceSeconds: 0.5 } };
    const drive = speaking(plan, (turn) => (turn === 0 ? "Hello there." : null));
    drive.send({ type: "speech-started", atMs: 2_000 });
    drive.run(2_400);
    drive.send({ type: "speech-ended", atMs: 2_300 });
    drive.run(5_000);
    expect(drive.all("user-interrupted")).toEqual([]);
  });

  test("the assistant is silent for backoffSeconds after an interruption", () => {
    const plan = { stopSpeakingPlan: { ...stop, backoffSeconds: 3 } };
    const drive = speaking(plan).speak(600).run(8_000);
    expect(drive.all("start-audio").at(-1)).toBe("5200 start-audio reply 1");
  });

  test("numWords > 0: so many recognised words interrupt, fewer do not", () => {
    const plan = { stopSpeakingPlan: { ...stop, numWords: 3 } };
    const drive = speaking(plan);
    drive.run(2_100).send({ type: "speech-started", atMs: 2_000 });
    drive.run(2_500).send({ type: "partial-transcribed", turn: 1, text: "tell me" });
    expect(drive.all("user-interrupted")).toEqual([]);
    drive.send({ type: "partial-transcribed", turn: 1, text: "tell me more" });
    expect(drive.all("user-interrupted")).toEqual(["2500 user-interrupted reply 0"]);
  });

  test("interruptionPhrases interrupt at once, however few words; acknowledgementPhrases never", () => {
    const plan = { stopSpeakingPlan: { ...stop, numWords: 2, acknowledgementPhrases: ["okay", "got it"] } };
    const drive = speaking(plan);
    drive.run(2_100).send({ type: "speech-started", atMs: 2_000 });
    drive.send({ type: "partial-transcribed", turn: 1, text: "Okay, got it." });
    expect(drive.all("user-interrupted")).toEqual([]);
    drive.send({ type: "partial-transcribed", turn: 1, text: "Stop!" });
    expect(drive.all("user-interrupted")).toHaveLength(1);
  });

  test("an acknowledgement is not answered either", () => {
    const plan = { stopSpeakingPlan: { ...stop, numWords: 2 } };
    const drive = speaking(plan, (turn) => (turn === 0 ? "Hello there." : "Okay."))
      .speak(400)
      .run(12_000);
    expect(drive.all("close-turn").at(-1)).toContain("Okay.");
    expect(drive.all("prepare")).toEqual(["900 prepare reply 0"]);
  });

  test("an acknowledgement while a reply waits leaves the turns of what is said in their order", () => {
    const hears = (turn: number) => (turn === 0 ? "Hello there." : "Okay.");
    const drive = new Drive({ hears, readyAfterMs: 1_500, speaksMs: () => 4_000 }).speak(400);
    const line = { type: "say" as const, text: "Listen.", interruptible: false, endsCall: false };
    for (const cutsIn of [false, true]) drive.send({ ...line, cutsIn });
    drive.run(3_000).speak(1_000).run(20_000);
    expect(drive.all("close-turn").at(-1)).toContain("Okay.");
    const turns = drive.log.flatMap((effect) => (effect.type === "start-audio" ? [effect.job.turn] : []));
    expect(turns).toEqual([0, 0, 0]);
  });

  test("a first message is not interrupted unless firstMessageInterruptionsEnabled", () => {
    const greeted = (enabled: boolean) => {
      const plan = { ...SPEAKS_FIRST, firstMessageInterruptionsEnabled: enabled };
      return new Drive({ plan }).run(500).speak(600).run(5_000).all("user-interrupted");
    };
    expect(greeted(false)).toEqual([]);
    expect(greeted(true)).toEqual(["700 user-interrupted Welcome."]);
  });

  test("speech while a silent reply waits for its tools is no interruption: the rest comes after it", () => {
    const drive = new Drive({ speaksMs: () => 60_000 }).speak(500).run(2_000);
    drive.send({ type: "job-tools", job: 1, running: true });
    const silent = (untilMs: number) => {
      for (; drive.nowMs < untilMs; drive.nowMs += 10)
        drive.send({ type: "tick", nowMs: drive.nowMs, playing: false });
    };
    silent(2_200);
    drive.send({ type: "speech-started", atMs: 2_100 });
    drive.send({ type: "job-tools", job: 1, running: false });
    silent(2_900);
    drive.send({ type: "speech-ended", atMs: 2_500 });
    silent(3_000);
    expect(drive.all("user-interrupted")).toEqual([]);
    expect(drive.all("pause-audio")).toHaveLength(1);
    expect(drive.all("resume-audio")).toHaveLength(1);
  });
});

describe("what else is said", () => {
  test("a line waits until the assistant has finished; an interrupting one does not", () => {
    const drive = new Drive({ speaksMs: () => 1_000 });
    drive.send({ ...say, text: "One." });
    drive.run(500).send({ ...say, text: "Two." });
    drive.send({ ...say, text: "Now.", cutsIn: true });
    drive.run(4_000);
    expect(drive.all("start-audio")).toEqual([
      "10 start-audio One.",
      "510 start-audio Now.",
      "1520 start-audio Two.",
    ]);
    expect(drive.all("cut-audio")).toEqual(["500 cut-audio One."]);
    expect(drive.all("user-interrupted")).toEqual([]);
  });

  test("lines wait in a bounded queue", () => {
    const drive = new Drive();
    for (let line = 0; line < 40; line++) drive.send({ ...say, text: `${line}` });
    expect(drive.all("refuse-line")).toHaveLength(7);
    expect(drive.all("refuse-line")[0]).toBe("0 refuse-line 33");
  });

  test("a line that ends the call does so once it is spoken", () => {
    const drive = new Drive();
    drive.send({ ...say, text: "Bye.", endsCall: true });
    drive.run(5_000);
    expect(drive.story.slice(-3)).toEqual([
      "2010 assistant stopped 0",
      "2010 assistant-final Bye.",
      "2010 end-call assistant-ended-call-after-message-spoken 1000",
    ]);
  });

  test("an interrupted farewell does not end the call", () => {
    const drive = new Drive();
    drive.send({ ...say, text: "Bye.", endsCall: true });
    drive.run(500).speak(600).run(5_000);
    expect(drive.machine.ended).toBe(false);
  });

  test("the model ends the call: endCallMessage first, when there is one", () => {
    const ending = (endCallMessage: string) => {
      const drive = new Drive({ plan: { endCallMessage } }).speak(500).run(1_200);
      drive.send({ type: "job-done", job: 1, saidEndCallPhrase: false, wantsEnd: true });
      return drive.run(9_000);
    };
    expect(ending("").all("end-call")).toEqual(["1200 end-call assistant-ended-call 1000"]);
    const drive = ending("Goodbye.");
    expect(drive.all("start-audio").at(-1)).toBe("1210 start-audio Goodbye.");
    expect(drive.all("end-call")).toEqual(["3210 end-call assistant-ended-call 1000"]);
  });

  test("an end call phrase of the assistant ends the call", () => {
    const drive = new Drive().speak(500).run(1_200);
    drive.send({ type: "job-done", job: 1, saidEndCallPhrase: true, wantsEnd: false });
    expect(drive.all("end-call")).toEqual(["1200 end-call assistant-said-end-call-phrase 1000"]);
  });
});

describe("time limits", () => {
  test("silenceTimeoutSeconds without anybody speaking: silence-timed-out", () => {
    const drive = new Drive({ plan: { silenceTimeoutSeconds: 5 } }).speak(500).run(60_000);
    expect(drive.all("end-call")).toEqual(["7900 end-call silence-timed-out 1000"]);
  });

  test("noise does not count as speech", () => {
    const drive = new Drive({ plan: { silenceTimeoutSeconds: 5 }, hears: () => null });
    drive.run(1_000).speak(500).run(60_000);
    expect(drive.all("end-call")).toEqual(["5000 end-call silence-timed-out 1000"]);
  });

  test("maxDurationSeconds ends the call in the middle of a sentence, without a goodbye", () => {
    const drive = new Drive({ plan: { maxDurationSeconds: 10 }, speaksMs: () => 60_000 })
      .speak(500)
      .run(60_000);
    expect(drive.story.slice(-4)).toEqual([
      "10000 cut-audio reply 0",
      "10000 assistant stopped 0",
      "10000 assistant-final reply 0",
      "10000 end-call exceeded-max-duration 1000",
    ]);
  });

  test("speech without a pause is treated as a turn after a minute", () => {
    const drive = new Drive().run(100);
    drive.send({ type: "speech-started", atMs: 100 });
    drive.run(70_000);
    expect(drive.all("close-turn")).toEqual(["60200 close-turn 0: Hello there."]);
  });
});

describe("the end", () => {
  test("a transcribed turn that is still open is closed before the call ends", () => {
    const drive = new Drive({ hears: () => "and then" }).speak(500).run(1_000);
    drive.send({ type: "end", reason: "customer-ended-call", closeCode: 1000 });
    expect(drive.story.slice(-3)).toEqual([
      "1000 close-turn 0: and then",
      "1000 user stopped 0",
      "1000 end-call customer-ended-call 1000",
    ]);
  });

  test("after it nothing happens", () => {
    const drive = new Drive();
    drive.send({ type: "end", reason: "customer-ended-call", closeCode: 1000 });
    drive.send({ type: "speech-started", atMs: 0 });
    drive.send({ type: "end", reason: "again", closeCode: 1011 });
    expect(drive.story).toEqual(["0 end-call customer-ended-call 1000"]);
  });
});
