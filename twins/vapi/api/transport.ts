/** The sockets of a call; the call id in their addresses is the secret. Source: https://docs.vapi.ai/calls/websocket-transport */
import { type SocketOperation, socketOperation } from "@offhook/platform/http/operation";
import type { VoiceRuntimeTwin } from "../twin.ts";
import { vendorError } from "./errors.ts";

/** Ten seconds of 48 kHz PCM in one message. */
const MAX_AUDIO_BYTES = 1024 * 1024;

export const transportSocket: SocketOperation<VoiceRuntimeTwin> = socketOperation({
  id: "call.transport",
  path: "/:callId/transport",
  surface: "rest",
  summary: "Carries a call's audio both ways, and its messages as JSON text.",
  maxPayloadBytes: MAX_AUDIO_BYTES,
  upgrade(request, twin) {
    const claim = twin.calls.claim(request.params.callId ?? "");
    if (claim.ok) return { accept: (socket) => claim.connect(socket) };
    return {
      refuse:
        claim.reason === "taken"
          ? vendorError(409, "Call already has a transport.")
          : vendorError(404, "Call not found or not active."),
    };
  },
});

/** The twin hands out `listenUrl` as the vendor does, but does not model what it carries: the refusal says so. */
export const listenSocket: SocketOperation<VoiceRuntimeTwin> = socketOperation({
  id: "call.listen",
  path: "/:callId/listen",
  surface: "rest",
  summary: "Refuses: listening in on a call is not modelled.",
  upgrade: () => ({ refuse: vendorError(501, "This runtime does not let anybody listen in on a call.") }),
});
