/**
 * The sockets of a call; the call id in their addresses is the secret.
 * Source: https://docs.vapi.ai/calls/websocket-transport, https://docs.vapi.ai/calls/call-listen
 */
import { type SocketOperation, socketOperation } from "@offhook/platform/http/operation";
import type { VoiceRuntimeTwin } from "../twin.ts";
import { INVALID_KEY, vendorError } from "./errors.ts";
import { hasKnownKey } from "./handle.ts";

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

/** Listeners have nothing to say. */
const MAX_LISTENER_MESSAGE_BYTES = 64 * 1024;

export const listenSocket: SocketOperation<VoiceRuntimeTwin> = socketOperation({
  id: "call.listen",
  path: "/:callId/listen",
  surface: "rest",
  summary:
    "Streams a live call's audio to a listener as stereo PCM of 16 kHz, and its messages as JSON text.",
  maxPayloadBytes: MAX_LISTENER_MESSAGE_BYTES,
  upgrade(request, twin) {
    const call = twin.calls.find(request.params.callId ?? "");
    if (!call) return { refuse: vendorError(404, "Call not found or not active.") };
    const plan = call.assistant.monitorPlan;
    if (plan?.listenEnabled === false) return { refuse: vendorError(404, "Call listening is not enabled.") };
    if (plan?.listenAuthenticationEnabled === true && !hasKnownKey(request, twin.world))
      return { refuse: vendorError(401, INVALID_KEY) };
    if (!call.takesListeners) return { refuse: vendorError(429, "Too many listeners on this call.") };
    return { accept: (socket) => call.listen(socket) };
  },
});
