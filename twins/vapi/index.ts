/** The voice runtime twin: Vapi's call API and call socket, with embedded speech that needs no key and no network. */
import { voiceRuntimeTwinWith } from "./definition.ts";
import { createFliteSynthesis } from "./providers/flite-synthesis.ts";
import { createSampleRecognition, withoutSamples } from "./providers/sample-recognition.ts";
import { createSession } from "./session/call-session.ts";

export default voiceRuntimeTwinWith({
  createSession,
  embedded: {
    async recognition(samplesFolder) {
      if (samplesFolder === undefined) return withoutSamples;
      const recognition = createSampleRecognition({ samplesFolder });
      recognition.warm();
      return recognition;
    },
    async synthesis() {
      const synthesis = createFliteSynthesis();
      synthesis.warm();
      return synthesis;
    },
  },
});
