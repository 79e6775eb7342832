/** Works on copies beside a sandbox's database: rebuilds it with other definitions, reads what it started with. */

import type { TableDescription, Tables } from "@offhook/platform/world/world";
import { WorldRefusal } from "@offhook/platform/world/world";
import pg from "pg";
import type { Logger } from "pino";
import type { Replacement, SandboxDatabase } from "./sandbox-database.ts";
import type { Server } from "./server/server.ts";
import { type Recipe, withClient } from "./server/templates.ts";
import { applyChanges, type DefinitionChange, definitionTableName } from "./world/definitions.ts";
import { PostgresWorld } from "./world/postgres-world.ts";
import { refuseIfAny } from "./world/refusals.ts";
import { unavailableOr } from "./world/unavailable.ts";

interface CopyContext {
  database: SandboxDatabase;
  server: Server;
  log: Logger;
}

/**
 * Applies changes of definition to a copy of the start, and fills it. The statements run as the role of the code under test, so they can
 * do no more than it can over its connection.
 * @throws WorldRefusal when a definition or a row is refused; the copy is dropped then
 */
export async function rebuild(
  { database, server, log }: CopyContext,
  changes: readonly DefinitionChange[],
  tables: Tables,
): Promise<Replacement> {
  const copy = await database.replacement();
  try {
    const { url } = await copy.open();
    await withClient({ connectionString: url }, async (client) => {
      refuseIfAny(await applyChanges(client, database.definitions, changes));
    });
    const world = await openCopy(copy, { database, server, log });
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

/**
 * Reads the state that a recipe makes, from a copy that is dropped afterwards.
 * @throws DifferenceUnknown when it is too large to be compared
 */
export async function readCopy(
  { database, server, log }: CopyContext,
  recipe: Recipe,
): Promise<{ tables: Tables; schema: TableDescription[] }> {
  const copy = await database.replacement(recipe);
  try {
    const world = await openCopy(copy, { database, server, log });
    try {
      return { tables: await world.readWhole(), schema: await world.schema() };
    } finally {
      await world.close();
    }
  } finally {
    copy.discard();
  }
}

async function openCopy(copy: Replacement, { database, server, log }: CopyContext): Promise<PostgresWorld> {
  const { adminUrl } = await copy.open();
  const nested = () => Promise.reject(new Error("a rebuild inside a rebuild"));
  return PostgresWorld.open(adminUrl, server, { definitions: database.definitions, rebuild: nested }, log);
}
