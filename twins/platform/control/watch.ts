/** `/sim/watch`: each change of the world as a Server-Sent Event. */
import { type Operation, operation } from "../http/operation.ts";
import type { ControlTarget } from "./target.ts";

export const watchOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "watch",
    method: "GET",
    path: "/sim/watch",
    surface: "rest",
    summary: "Streams each change of the world as a Server-Sent Event, after one named ready.",
    handle: (_request, { twin: { world, streams } }) =>
      streams.answer("/sim/data", (stream) => {
        stream.send("ready", { stateVersion: world.stateVersion });
        return world.watch((change) => stream.send("change", change));
      }),
  }),
];
