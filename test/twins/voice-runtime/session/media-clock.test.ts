import { once } from "node:events";
import { connect, createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { MediaClock, TICK_MS, TICK_SAMPLES } from "../../../../twins/voice-runtime/session/media-clock.ts";

/** Much longer than the half second after which silence is taken for granted. */
const STALL_MS = 1_500;

describe("a caller who sends nothing", () => {
  let clock: MediaClock;
  let ticks: number[];
  let ticked: () => void = () => {};

  function start(): void {
    ticks = [];
    clock = new MediaClock({
      onTick(frame) {
        ticks.push(frame[0] ?? 0);
        ticked();
      },
      onFull() {},
      onRoom() {},
      onDrop() {},
    });
    clock.start();
  }
  afterEach(() => clock.stop());

  test("is silence from half a second on, by the wall clock", async () => {
    start();
    const startedAt = performance.now();
    await new Promise<void>((resolve) => {
      ticked = resolve;
    });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(499);
    expect(ticks[0]).toBe(0);
  });

  test("is not silent while the process stood still, and the caller with it", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const caller = connect(address.port, "127.0.0.1");
    const [line] = await once(server, "connection");
    start();
    line.on("data", () => clock.receive(new Int16Array(TICK_SAMPLES).fill(7)));
    // Nothing is read and no timer fires meanwhile, as when the machine is overloaded; the caller goes on a little later.
    setTimeout(() => caller.write("audio"), STALL_MS + 50);
    for (const until = performance.now() + STALL_MS; performance.now() < until; );
    await new Promise<void>((resolve) => {
      ticked = resolve;
    });
    expect(ticks).toEqual([7]);
    expect(clock.nowMs).toBe(TICK_MS);
    caller.destroy();
    server.close();
  });
});
