/** `/sim/data`: the rows of a twin's world, read, added, changed and removed. */
import { z } from "zod";
import { errorResponse, readBodyAs, readQueryAs } from "../errors.ts";
import { type Operation, operation, type VendorResponse } from "../operation.ts";
import { type Row, type TableDescription, type World, WorldRefusal } from "../world.ts";
import { pageParameters } from "./paging.ts";
import { rowSchema, tablesSchema } from "./rows-schema.ts";
import type { ControlTarget } from "./target.ts";

const pageQuery = z.object({ entity_type: z.string(), ...pageParameters }).catchall(z.string());
const countsQuery = z.strictObject({}, "takes entity_type; without it, nothing");
const additions = z.strictObject({ data: tablesSchema });
const naming = rowSchema.refine((given) => Object.keys(given).length > 0, "must name at least one column");
const selection = {
  entity_type: z.string(),
  /** The key's value; of a key of several columns an object of them. */
  key: z
    .union([z.string(), z.number(), naming], "must be text, a number, or an object of key columns")
    .optional(),
  where: naming.optional(),
};
const oneSelector = (body: { key?: unknown; where?: unknown }) =>
  (body.key === undefined) !== (body.where === undefined);
const change = z
  .strictObject({ ...selection, changes: naming })
  .refine(oneSelector, "takes exactly one of key and where");
const removal = z.strictObject(selection).refine(oneSelector, "takes exactly one of key and where");

export const dataOperations: readonly Operation<ControlTarget>[] = [
  operation<ControlTarget>({
    id: "data.read",
    method: "GET",
    path: "/sim/data",
    surface: "rest",
    summary:
      "Row counts of every table; with entity_type, the rows of that table, filtered by column and paged.",
    handle: (request, { twin }) => {
      const { world } = twin;
      return request.query.has("entity_type") ? readRows(request, world) : readCounts(request, world);
    },
  }),
  operation<ControlTarget>({
    id: "data.add",
    method: "POST",
    path: "/sim/data",
    surface: "rest",
    summary: "Adds rows of many tables at once; all of them or none.",
    async handle(request, { twin }) {
      const body = readBodyAs(request, additions);
      if (!body.ok) return body.response;
      const { world } = twin;
      const added = await world.insert(body.value.data);
      return { status: 201, body: { added, state_version: world.stateVersion } };
    },
  }),
  operation<ControlTarget>({
    id: "data.change",
    method: "PATCH",
    path: "/sim/data",
    surface: "rest",
    summary: "Changes columns of the rows selected by key or where; all of them or none.",
    async handle(request, { twin }) {
      const body = readBodyAs(request, change);
      if (!body.ok) return body.response;
      const { world } = twin;
      const where = await whereOf(world, body.value);
      const updated = await world.update(body.value.entity_type, where, body.value.changes);
      if (updated === 0) return nothingMatches(body.value.entity_type);
      return { status: 200, body: { updated, state_version: world.stateVersion } };
    },
  }),
  operation<ControlTarget>({
    id: "data.remove",
    method: "DELETE",
    path: "/sim/data",
    surface: "rest",
    summary: "Removes the rows selected by key or where; all of them or none.",
    async handle(request, { twin }) {
      const body = readBodyAs(request, removal);
      if (!body.ok) return body.response;
      const { world } = twin;
      const removed = await world.remove(body.value.entity_type, await whereOf(world, body.value));
      if (removed === 0) return nothingMatches(body.value.entity_type);
      return { status: 200, body: { removed, state_version: world.stateVersion } };
    },
  }),
];

type Request = Parameters<Operation<ControlTarget>["handle"]>[0];

async function readCounts(request: Request, world: World): Promise<VendorResponse> {
  const query = readQueryAs(request, countsQuery);
  if (!query.ok) return query.response;
  const state_version = world.stateVersion;
  return { status: 200, body: { counts: await world.counts(), state_version } };
}

async function readRows(request: Request, world: World): Promise<VendorResponse> {
  const query = readQueryAs(request, pageQuery);
  if (!query.ok) return query.response;
  const { entity_type, limit, offset, ...where } = query.value;
  const page = await world.rows(entity_type, { limit, offset, where });
  return { status: 200, body: { entity_type, rows: page.rows, total: page.total, limit, offset } };
}

/** A selection as column values. A table that does not exist is left to the world to refuse. @throws WorldRefusal */
async function whereOf(
  world: World,
  body: { entity_type: string; key?: Row | string | number | undefined; where?: Row | undefined },
): Promise<Row> {
  if (body.where) return body.where;
  const tables = await world.schema();
  const table = tables.find(({ name }) => name === body.entity_type);
  return table ? keyWhere(table, body.key) : { id: body.key };
}

/** A key as column values. @throws WorldRefusal when it does not name exactly the columns of the key. */
function keyWhere(table: TableDescription, key: Row | string | number | undefined): Row {
  const columns = table.key_columns ?? [table.key];
  const [only] = columns;
  const refuse = (rule: string) => new WorldRefusal([{ table: table.name, value: key, rule }]);
  if (only === undefined) throw refuse("has no key; select its rows with where");
  if (typeof key !== "object") {
    if (columns.length === 1) return { [only]: key };
    throw refuse(`its key is an object of ${columns.join(", ")}`);
  }
  const given = Object.keys(key);
  if (given.length === columns.length && columns.every((column) => Object.hasOwn(key, column))) return key;
  throw refuse(`its key has exactly the columns ${columns.join(", ")}`);
}

function nothingMatches(table: string): VendorResponse {
  return errorResponse(404, "not_found", `no row of ${table} matches; nothing was changed`);
}
