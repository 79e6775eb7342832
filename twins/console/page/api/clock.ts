/** The clock of the sandbox that the address names. */
import { place } from "../place.ts";
import { controlPath, read } from "./client.ts";
import { useLive } from "./live.ts";
import { type Resource, useResource } from "./resource.ts";

export interface Clock {
  now: string;
  /** `live`: the machine's time. */
  mode: string;
  speed: number;
  /** The machine's time. */
  wall: string;
  /** When the browser read it, by its own clock. */
  readAtMs: number;
}

/** Any twin tells it; the engine is in every sandbox. */
const TELLER = "engine";

/** The clock, read again when somebody sets it. */
export function useClock(): Resource<Clock> {
  const path = controlPath(place.value.sandbox, TELLER, "clock");
  const clock = useResource(path, async (signal) => ({
    ...(await read<Omit<Clock, "readAtMs">>(path, signal)),
    readAtMs: Date.now(),
  }));
  useLive({
    request: ({ operation }) => {
      if (operation === "clock.set" || operation === "world.reset") clock.reload();
    },
    gap: clock.reload,
  });
  return clock;
}
