/** The declaration of the twin, independent of what implements the live call and the embedded speech. */
import { defineTwin } from "@offhook/platform/twin/twin";
import {
  createAssistant,
  deleteAssistant,
  getAssistant,
  listAssistants,
  updateAssistant,
} from "./api/assistants.ts";
import { createCall, deleteCall, getCall, listCalls, updateCall } from "./api/calls.ts";
import { controlCall } from "./api/control.ts";
import { FAULT_STATUSES, vendorRefusal } from "./api/errors.ts";
import { downloadRecording, redirectsToRecordings } from "./api/recordings.ts";
import { listenSocket, transportSocket } from "./api/transport.ts";
import { voiceRuntimeConfig } from "./config.ts";
import { callOperations } from "./control/calls.ts";
import { providerOperations } from "./control/providers.ts";
import { sampleOperations } from "./control/samples.ts";
import { scriptOperations } from "./control/scripts.ts";
import { voiceRuntimeManual } from "./manual.ts";
import { recordingOperations } from "./recordings/control.ts";
import { SEED_KEY, startVoiceRuntime, type VoiceRuntimeParts } from "./twin.ts";

/** The twin with these parts; `index.ts` passes the real ones, a test may pass others. */
export function voiceRuntimeTwinWith(parts: VoiceRuntimeParts) {
  return defineTwin({
    name: "vapi",
    vendor: "Vapi",
    versions: ["server SDK 2.0"],
    cloudHosts: ["api.vapi.ai", "*.vapi.ai"],
    config: voiceRuntimeConfig,
    operations: [
      createCall,
      listCalls,
      getCall,
      updateCall,
      deleteCall,
      createAssistant,
      listAssistants,
      getAssistant,
      updateAssistant,
      deleteAssistant,
      controlCall,
      ...redirectsToRecordings,
      downloadRecording,
    ],
    sockets: [transportSocket, listenSocket],
    controlOperations: [
      ...callOperations,
      ...recordingOperations,
      ...providerOperations,
      ...sampleOperations,
      ...scriptOperations,
    ],
    secretHeaders: ["authorization", "x-vapi-secret", "location"],
    secretPathParams: ["/:callId/transport", "/:callId/control", "/:callId/listen", "/recordings/:file"],
    secretMembers: [
      "websocketCallUrl",
      "listenUrl",
      "controlUrl",
      "recordingUrl",
      "stereoRecordingUrl",
      "stereoUrl",
      "combinedUrl",
      "assistantUrl",
      "customerUrl",
      "headers",
      "secret",
      "serverUrlSecret",
      "credentials",
    ],
    faultStatuses: FAULT_STATUSES,
    credentials: () => [SEED_KEY],
    manual: voiceRuntimeManual,
    refusal: vendorRefusal,
    start: (context, config) => startVoiceRuntime(parts, context, config),
    clientEnvironment: (url) => ({ VOICE_API_URL: url, VAPI_API_KEY: SEED_KEY }),
  });
}
