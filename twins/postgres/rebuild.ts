/** Rebuilds a sandbox's database with other definitions, in a copy beside the current one. */

import type { Tables } from "@offhook/platform/world/world";
import { WorldRefusal } from "@offhook/platform/world/world";
import pg from "pg";
import type { Logger } from "pino";
import type { Replacement, SandboxDatabase } from "./sandbox-database.ts";
import type { Server } from "./server/server.ts";
import { withClient } from "./server/templates.ts";
import { applyChanges, type DefinitionChange, definitionTableName } from "./world/definitions.ts";
import { PostgresWorld } from "./world/postgres-world.ts";
import { refuseIfAny } from "./world/refusals.ts";
import { unavailableOr } from "./world/unavailable.ts";

/**
 * Applies changes of definition to a copy of the start, and fills it. The statements run as the role of the code under test, so they can
 * do no more than it can over its connection.
 * @throws WorldRefusal when a definition or a row is refused; the copy is dropped then
 */
export async function rebuild(
  { database, server, log }: { database: SandboxDatabase; server: Server; log: Logger },
  changes: readonly DefinitionChange[],
  tables: Tables,
): Promise<Replacement> {
  const copy = await database.replacement();
  try {
    const { url, adminUrl } = await copy.open();
    await withClient({ connectionString: url }, async (client) => {
      refuseIfAny(await applyChanges(client, database.definitions, changes));
    });
    const nested = () => Promise.reject(new Error("a rebuild inside a rebuild"));
    const start = { definitions: database.definitions, rebuild: nested };
    const world = await PostgresWorld.open(adminUrl, server, start, log);
    try {
      await world.load(tables);
    } finally {
      await world.close();
    }
    return copy;
  } catch (error) {
    copy.discard();
    const reason = unavailableOr(error, server.outage());
    if (!(reason instanceof pg.DatabaseError)) throw reason;
    throw new WorldRefusal([{ table: definitionTableName, rule: reason.message }]);
  }
}
