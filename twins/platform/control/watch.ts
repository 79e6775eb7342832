/** `/sim/watch`: each change of the world as a Server-Sent Event. */
import { Readable } from "node:stream";
import { errorResponse } from "../http/errors.ts";
import { type Operation, operation } from "../http/operation.ts";
import type { World } from "../world/world.ts";
import type { ControlTarget } from "./target.ts";

/** Backlog limit of a slow watcher; beyond it the stream ends with an `overflow` event. */
const QUEUE_BYTES = 1024 * 1024;
/** Watchers of one twin at a time. */
const MAX_WATCHERS = 64;
/** Interval of comments that keep proxies from cutting an idle stream and detect that the watcher has left. */
const COMMENT_MS = 15_000;

export const watchOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "watch",
    method: "GET",
    path: "/sim/watch",
    surface: "rest",
    summary: "Streams each change of the world as a Server-Sent Event, after one named ready.",
    handle: (_request, { twin }) => {
      const { world } = twin;
      if ((watchers.get(world) ?? 0) >= MAX_WATCHERS) {
        return errorResponse(
          429,
          "too_many_watchers",
          `a twin is watched by at most ${MAX_WATCHERS} at a time`,
        );
      }
      return {
        status: 200,
        headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
        body: watchStream(world),
      };
    },
  }),
];

/** Open streams of each world. */
const watchers = new WeakMap<World, number>();

function countWatchers(world: World, difference: number): void {
  watchers.set(world, (watchers.get(world) ?? 0) + difference);
}

function watchStream(world: World): Readable {
  countWatchers(world, 1);
  const stream = new Readable({ read() {}, highWaterMark: QUEUE_BYTES });
  const unwatch = world.watch((change) => {
    if (stream.push(event("change", change))) return;
    stream.push(
      event("overflow", {
        rule: `a watcher may lag behind by ${QUEUE_BYTES} bytes; read again from /sim/data`,
      }),
    );
    stream.push(null);
    release();
  });
  const comments = setInterval(() => stream.push(":\n\n"), COMMENT_MS);
  comments.unref();
  const release = () => {
    unwatch();
    clearInterval(comments);
  };
  stream.once("close", () => countWatchers(world, -1));
  stream.once("close", release);
  stream.push(event("ready", { stateVersion: world.stateVersion }));
  return stream;
}

function event(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
