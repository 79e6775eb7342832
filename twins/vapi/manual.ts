/** The manual of the voice runtime twin, for clients that drive it. */
import type { TwinManual } from "@offhook/platform/twin/manual";
import { SEED_KEY } from "./twin.ts";

export const voiceRuntimeManual: TwinManual = {
  credentials: [
    { id: "vapi.key", text: `The bearer token ${SEED_KEY} is accepted from the start.` },
    {
      id: "vapi.more-keys",
      text: "A key is accepted while the table api_keys has a row with its SHA-256.",
    },
    {
      id: "vapi.wrong-key",
      text: "A missing or unknown key is answered with 401 in the vendor's words.",
    },
    {
      id: "vapi.user-agent",
      text: "A request without User-Agent is answered with 403, even with a valid key.",
    },
  ],
  repeatedWrites: [
    { id: "vapi.call-again", text: "Creating a call with the same body twice makes two calls." },
    {
      id: "vapi.assistant-again",
      text: "Creating an assistant with the same body twice makes two assistants.",
    },
    {
      id: "vapi.change-again",
      text: "Repeating a change of an assistant has no further effect.",
    },
    {
      id: "vapi.delete-again",
      text: "Deleting a live call ends it and keeps its record; deleting it again removes the record; a third time is a 404.",
    },
  ],
  notes: [
    {
      id: "vapi.callbacks",
      text: "Server messages and tool calls go to the registered callback destination when neither the tool nor the assistant names a server; it plays the part of the vendor's organisation-wide server. A call keeps the destination that was registered when it was created.",
    },
    {
      id: "vapi.profile",
      text: "It has one profile, default: the state at its start.",
    },
    {
      id: "vapi.recordings",
      text: "The recording of a call that has ended is at the addresses in its artifact, which need no key. A reset removes every recording.",
    },
    {
      id: "vapi.calls",
      text: "/sim/calls lists calls oldest first unless order=newest says otherwise; /sim/calls/{id} has what each answer waited for and whether the caller cut it short, of calls that clients made and of rows that were added alike.",
    },
    {
      id: "vapi.exchanges",
      text: "What the webhooks of tool calls were sent and answered is shown by /sim/calls/{id} and in no snapshot; a reset forgets it.",
    },
    {
      id: "vapi.samples",
      text: "POST /sim/samples?name=&text= keeps a WAV file as a sample in the service's folder, and it is recognised from the next turn on; a name that is taken is a 409, and so is a sandbox whose services came with the request.",
    },
    {
      id: "vapi.scripts",
      text: "GET /sim/scripts tells which words each script names and which samples it answers by them; PUT /sim/scripts/{simulation_id} takes a scenario file and makes its brain: the script of that simulation.",
    },
    { id: "vapi.reset-calls", text: "A reset ends the live calls." },
  ],
};
