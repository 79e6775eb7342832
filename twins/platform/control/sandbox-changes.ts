/** `/sandboxes/{id}/changes` and `/watch`: what changes in the worlds of a sandbox, and what is asked of its twins, as it happens. */
import { z } from "zod";
import { errorResponse, readQueryAs } from "../http/errors.ts";
import { type Operation, operation } from "../http/operation.ts";
import { type LoggedChange, readRow } from "../journal/change-log.ts";
import type { Tier } from "../journal/journal.ts";
import { pageParameters } from "./paging.ts";
import { entryOrder } from "./requests.ts";
import { chooseTwins, isoTime, type NamedTwins, summarizeEntry } from "./sandbox-requests.ts";
import { forSandbox, type SandboxesTarget } from "./sandboxes.ts";

const changesQuery = z.strictObject({
  twin: z.array(z.string()).optional(),
  table: z.string().optional(),
  /** By the machine's clock; both ends belong to it. */
  since: isoTime.optional(),
  until: isoTime.optional(),
  order: entryOrder,
  ...pageParameters,
});

const watchQuery = z.strictObject({
  twin: z.array(z.string()).optional(),
  requests: z.enum(["vendor", "all", "none"], "must be vendor, all or none").default("vendor"),
  changes: z.enum(["true", "false"], "must be true or false").default("true"),
});

export const sandboxChangeOperations: readonly Operation<SandboxesTarget>[] = [
  operation<SandboxesTarget>({
    id: "sandbox.changes.read",
    method: "GET",
    path: "/sandboxes/:id/changes",
    surface: "rest",
    summary: "The newest changes of all worlds of a sandbox, filtered by twin, table, since and until.",
    // Only the mask of each twin's own journal knows which columns are secret.
    secretBody: true,
    handle: forSandbox((request, sandbox) => {
      const query = readQueryAs(request, changesQuery, ["twin"]);
      if (!query.ok) return query.response;
      const twins = chooseTwins(sandbox, query.value.twin);
      if (!twins.ok) return twins.response;
      const { table, since, until, order, limit, offset } = query.value;
      const names = namesOf(twins.value);
      const found = sandbox.changes
        .entries()
        .filter(
          (change) =>
            names.has(change.twin) &&
            (table === undefined || change.table === table) &&
            (since === undefined || change.wallTimeMs >= since) &&
            (until === undefined || change.wallTimeMs <= until),
        );
      if (order === "newest") found.reverse();
      const changes = found.slice(offset, offset + limit).map(showChange);
      const { dropped } = sandbox.changes;
      return { status: 200, body: { changes, total: found.length, limit, offset, dropped } };
    }),
  }),
  operation<SandboxesTarget>({
    id: "sandbox.watch",
    method: "GET",
    path: "/sandboxes/:id/watch",
    surface: "rest",
    summary:
      "Streams the requests to all twins of a sandbox, once answered, and the changes of their worlds as Server-Sent Events.",
    secretBody: true,
    handle: forSandbox((request, sandbox) => {
      const query = readQueryAs(request, watchQuery, ["twin"]);
      if (!query.ok) return query.response;
      const twins = chooseTwins(sandbox, query.value.twin);
      if (!twins.ok) return twins.response;
      if (!sandbox.connections.open) return errorResponse(503, "ending", "the sandbox is ending");
      const tiers = watchedTiers[query.value.requests];
      const names = namesOf(twins.value);
      const readAgain = `/sandboxes/${sandbox.id}/requests and /sandboxes/${sandbox.id}/changes`;
      return sandbox.streams.answer(readAgain, (stream) => {
        stream.send("ready", { twins: twins.value.map(describeState) });
        const unwatch = twins.value.map(([twin, { journal }]) =>
          tiers.length === 0
            ? () => undefined
            : journal.watch((entry) => {
                if (tiers.includes(entry.tier)) stream.send("request", summarizeEntry(twin, entry));
              }),
        );
        if (query.value.changes === "true") {
          unwatch.push(
            sandbox.changes.watch((change) => {
              if (names.has(change.twin)) stream.send("change", showChange(change));
            }),
          );
        }
        return () => {
          for (const end of unwatch) end();
        };
      });
    }),
  }),
];

const watchedTiers: Record<"vendor" | "all" | "none", readonly Tier[]> = {
  vendor: ["vendor"],
  all: ["vendor", "control"],
  none: [],
};

function namesOf(twins: NamedTwins): ReadonlySet<string> {
  return new Set(twins.map(([name]) => name));
}

function describeState([name, { world, journal }]: NamedTwins[number]) {
  return { name, state_version: world.stateVersion, newest_seq: journal.newest };
}

function showChange(change: LoggedChange) {
  const { row, omitted: ofRow } = readRow(change.row);
  const { row: before, omitted: ofBefore } = readRow(change.before);
  const omitted = [...new Set([...change.omitted, ...ofRow, ...ofBefore])];
  return {
    at: new Date(change.wallTimeMs).toISOString(),
    simulated_at: new Date(change.simulatedTimeMs).toISOString(),
    twin: change.twin,
    state_version: change.stateVersion,
    table: change.table,
    change: change.change,
    key: change.key ?? null,
    row: row ?? null,
    ...(before === undefined ? {} : { before }),
    ...(change.rows === undefined ? {} : { rows: change.rows }),
    ...(omitted.length === 0 ? {} : { omitted }),
  };
}
