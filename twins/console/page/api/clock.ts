/** The clock of the sandbox that the address names. */
import { place } from "../place.ts";
import { controlPath, read } from "./client.ts";
import { useLive } from "./live.ts";
import { type Resource, useResource } from "./resource.ts";
import { useSandbox } from "./sandboxes.ts";

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

/** The address of a route of the clock, at whichever twin; `undefined` until the twins are known. */
export function useClockPath(route: "clock" | "reset-world"): string | undefined {
  const { data } = useSandbox();
  const [teller] = data?.twins ?? [];
  return teller && controlPath(place.value.sandbox, teller.name, route);
}

/** The clock, read again when somebody sets it. */
export function useClock(): Resource<Clock> {
  const path = useClockPath("clock");
  const clock = useResource(path, async (signal) => ({
    ...(await read<Omit<Clock, "readAtMs">>(path ?? "", signal)),
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
