import { describe, expect, it } from "vitest";
import { everyStep } from "../every-step.ts";

describe("a series of steps", () => {
  it("is taken to its end, in order, and the first error is the one that is told", async () => {
    const taken: string[] = [];
    const steps = everyStep([
      async () => void taken.push("one"),
      () => {
        throw new Error("first");
      },
      () => Promise.reject(new Error("second")),
      () => undefined,
      async () => void taken.push("last"),
    ]);
    await expect(steps).rejects.toThrow("first");
    expect(taken).toEqual(["one", "last"]);
  });
});
