/** The voice runtime twin: Vapi's call API and call socket, with embedded speech that needs no key and no network. */
import { fileURLToPath } from "node:url";
import { voiceRuntimeTwinWith } from "./definition.ts";
import { createFliteSynthesis } from "./providers/flite-synthesis.ts";
import { createSampleRecognition } from "./providers/sample-recognition.ts";
import { createSession } from "./session/call-session.ts";

const projectSamples = fileURLToPath(new URL("../../samples", import.meta.url));

export const voiceRuntimeTwin = voiceRuntimeTwinWith({
  createSession,
  embedded: {
    async recognition(samplesFolder = projectSamples) {
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

export default voiceRuntimeTwin;
