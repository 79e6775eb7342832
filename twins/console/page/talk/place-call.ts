/** Places a call of a simulation of its own, and tidies up when it has ended. */
import { ApiError } from "../api/client.ts";
import { type DialOptions, PhoneCall } from "./phone-call.ts";
import { beginSimulation, copyScript, EVERY_CALL, endSimulation, removeScript } from "./speech.ts";

export interface PlaceOptions extends Omit<DialOptions, "simulationId"> {
  sandbox: string;
  /** The script whose rules answer, by its simulation. */
  script: string;
}

/** @throws ApiError; SoundError without sound or the microphone */
export async function placeCall(options: PlaceOptions, microphone: "open" | "none"): Promise<PhoneCall> {
  const { sandbox, script, ...dial } = options;
  const simulationId = await simulationOf(sandbox);
  const hasOwnScript = script !== EVERY_CALL;
  const tidyUp = () => {
    if (hasOwnScript) void removeScript(sandbox, simulationId).catch(ignore);
    void endSimulation(sandbox, simulationId).catch(ignore);
  };
  try {
    if (hasOwnScript) await copyScript(sandbox, script, simulationId);
    const phone = await PhoneCall.dial({ ...dial, simulationId }, microphone);
    phone.state.subscribe(({ name }) => {
      if (name === "ended") tidyUp();
    });
    return phone;
  } catch (error) {
    tidyUp();
    throw error;
  }
}

/** What is left over does no harm: a reset removes it. */
function ignore(): void {}

/** An environment without an engine has no simulations; the call is found by any id that is its own. */
async function simulationOf(sandbox: string): Promise<string> {
  try {
    return await beginSimulation(sandbox);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return `console-${crypto.randomUUID()}`;
    throw error;
  }
}
