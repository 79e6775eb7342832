/** How the voice runtime behaves, for who drives it. */
import type { TwinManual } from "@offhook/platform/twin/manual";
import { SEED_KEY } from "./twin.ts";

export const voiceRuntimeManual: TwinManual = {
  credentials: [
    { id: "vapi.key", text: `The key ${SEED_KEY}, as a bearer token, is accepted from the start.` },
    {
      id: "vapi.more-keys",
      text: "Any key is accepted whose SHA-256 stands in the table api_keys, for as long as it stands there.",
    },
    {
      id: "vapi.wrong-key",
      text: "Without a key, or with any other, the answer is 401 in the vendor's words.",
    },
    { id: "vapi.user-agent", text: "A client that sends no User-Agent is answered with 403, key or not." },
  ],
  repeatedWrites: [
    { id: "vapi.call-again", text: "Creating a call with the same body twice makes two calls." },
    {
      id: "vapi.assistant-again",
      text: "Creating an assistant with the same body twice makes two assistants.",
    },
    {
      id: "vapi.change-again",
      text: "Changing an assistant twice in the same way leaves it as the first change did.",
    },
    {
      id: "vapi.delete-again",
      text: "Deleting a live call ends it and keeps its record, deleting it again removes the record, and a third time is a 404.",
    },
  ],
  notes: [
    {
      id: "vapi.callbacks",
      text: "Server messages and tool calls go to the registered callback destination when neither the tool nor the assistant names a server, as to the vendor's organisation-wide one; a call keeps the destination that was registered when it was created.",
    },
    {
      id: "vapi.profile",
      text: "It has one profile, default, which is its start.",
    },
    { id: "vapi.reset-calls", text: "A reset ends the calls that are live." },
  ],
};
