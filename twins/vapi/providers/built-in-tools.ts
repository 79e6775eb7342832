/** Tools that the runtime runs itself: a call of the `endCall` tool ends the phone call and reaches no webhook. */
import type { Brain, BrainRequest, BrainStep } from "./provider.ts";

/** @param endCallTools names of the assistant's tools of type `endCall` */
export function withEndCallTools(brain: Brain, endCallTools: ReadonlySet<string>): Brain {
  if (endCallTools.size === 0) return brain;
  async function* reply(request: BrainRequest, signal: AbortSignal): AsyncGenerator<BrainStep> {
    for await (const step of brain.reply(request, signal)) {
      if (step.type !== "call-tools") {
        yield step;
        continue;
      }
      const calls = step.calls.filter((call) => !endCallTools.has(call.name));
      if (calls.length > 0) yield { type: "call-tools", calls };
      else yield { type: "end-call" };
    }
  }
  return { ...brain, reply };
}
