/** `/sim/providers`: what hears, thinks and speaks. */
import { hostOf } from "@offhook/platform/client/webhook";
import { type Operation, operation } from "@offhook/platform/http/operation";
import { withoutSamples } from "../providers/sample-recognition.ts";
import { countSpeech } from "../samples/sample-folder.ts";
import type { VoiceRuntimeTwin } from "../twin.ts";

export const providerOperations: Operation<VoiceRuntimeTwin>[] = [
  operation<VoiceRuntimeTwin>({
    id: "providers.read",
    method: "GET",
    path: "/sim/providers",
    surface: "rest",
    summary:
      "What hears (recognition), thinks (brain) and speaks (synthesis), with a hint to whoever is not understood; no keys.",
    handle: (_request, twin) => ({
      status: 200,
      body: {
        recognition: describeRecognition(twin),
        brain: describeBrain(twin),
        synthesis: describeSynthesis(twin),
      },
    }),
  }),
];

function describeRecognition({ config: { recognition }, samples }: VoiceRuntimeTwin) {
  if (recognition.provider === "openai") {
    const { provider, model, base_url } = recognition;
    return { provider, model, server: hostOf(base_url), hint: null };
  }
  const hint =
    samples.path === undefined
      ? (withoutSamples.hint ?? null)
      : "only the recordings that /sim/samples lists are recognised: add what is said (POST /sim/samples, or npm run samples -- add), or give the service a speech-to-text server (recognition in the environment file)";
  return { provider: recognition.provider, samples: countSpeech(samples), hint };
}

function describeBrain({ config: { brain } }: VoiceRuntimeTwin) {
  if (brain.provider === "openai") {
    const { provider, model = null, base_url } = brain;
    const hint = model === null ? "each assistant names its own model" : null;
    return { provider, model, server: hostOf(base_url), hint };
  }
  const hint =
    "replies follow the rules of the table scripts: those of the call's simulation, or else of the row *";
  return { provider: brain.provider, hint };
}

function describeSynthesis({ config: { synthesis } }: VoiceRuntimeTwin) {
  if (synthesis.provider === "openai") {
    const { provider, model, voice = null, base_url } = synthesis;
    return { provider, model, voice, server: hostOf(base_url), hint: null };
  }
  return { provider: synthesis.provider, hint: null };
}
