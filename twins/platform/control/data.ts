/** `/sim/data`: the rows of a twin's world, read, added, changed and removed. */
import { z } from "zod";
import { readJson } from "../base/json.ts";
import { errorResponse, readBodyAs, readQueryAs } from "../http/errors.ts";
import { type Operation, operation, type VendorResponse } from "../http/operation.ts";
import {
  type Problem,
  type Row,
  type RowChange,
  type TableDescription,
  unknownTable,
  type World,
  WorldRefusal,
} from "../world/world.ts";
import { pageParameters } from "./paging.ts";
import { isObject, rowSchema, tablesSchema } from "./rows-schema.ts";
import type { ControlTarget } from "./target.ts";

const pageQuery = z.object({ entity_type: z.string(), ...pageParameters }).catchall(z.string());
/** Counts are never paged: `limit` and `offset` have no effect. */
const countsQuery = z.strictObject(
  pageParameters,
  "a filter takes entity_type: ?entity_type=TABLE&COLUMN=VALUE",
);
const removalQuery = z
  .object({ entity_type: z.string("must name a table") })
  .catchall(z.string())
  .refine(
    (query) => Object.keys(query).length > 1,
    "takes a filter beside entity_type, such as ?entity_type=TABLE&id=VALUE",
  );
const additions = z.strictObject({ data: tablesSchema });
const naming = rowSchema.refine((given) => Object.keys(given).length > 0, "must name at least one column");
const selection = {
  entity_type: z.string(),
  /** The key's value; of a composite key, an object of its columns. */
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

/** Example bodies that refusals show. */
const examples = {
  add: '{"data": {"TABLE": [{"COLUMN": "VALUE"}]}}',
  change:
    '{"entity_type": "TABLE", "key": "KEY", "changes": {"COLUMN": "VALUE"}} or {"data": {"TABLE": [{"KEY_COLUMN": "KEY", "COLUMN": "VALUE"}]}}',
  remove: '{"entity_type": "TABLE", "key": "KEY"}, or no body and ?entity_type=TABLE&COLUMN=VALUE',
};

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
      const body = readBodyAs(request, additions, examples.add);
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
    summary:
      "Changes columns of the rows selected by key or where, or of those that data names by their keys; all of them or none.",
    async handle(request, { twin }) {
      const { world } = twin;
      if (namesData(request)) return changeNamed(request, world);
      const body = readBodyAs(request, change, examples.change);
      if (!body.ok) return body.response;
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
    summary: "Removes the rows selected by key, by where, or by the filters of a read; all of them or none.",
    async handle(request, { twin }) {
      const { world } = twin;
      if (request.query.size > 0) return removeFound(request, world);
      const body = readBodyAs(request, removal, examples.remove);
      if (!body.ok) return body.response;
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

function namesData({ body }: Request): boolean {
  const json = readJson(body);
  return json.ok && isObject(json.value) && Object.hasOwn(json.value, "data");
}

/** Changes the rows that `data` names by their keys. @throws WorldRefusal */
async function changeNamed(request: Request, world: World): Promise<VendorResponse> {
  const body = readBodyAs(request, additions, examples.change);
  if (!body.ok) return body.response;
  const { data } = body.value;
  const tables = new Map((await world.schema()).map((table) => [table.name, table]));
  const problems: Problem[] = [];
  const changes = Object.entries(data).flatMap(([name, rows]) => {
    const table = tables.get(name);
    if (!table) problems.push(unknownTable(name, tables.keys()));
    return table ? rows.flatMap((row, position) => changeOf(table, row, position, problems)) : [];
  });
  if (problems.length > 0) throw new WorldRefusal(problems);
  await world.updateEach(changes);
  const updated = Object.fromEntries(Object.entries(data).map(([table, rows]) => [table, rows.length]));
  return { status: 200, body: { updated, state_version: world.stateVersion } };
}

/** Splits a row into its key and its changes. */
function changeOf(table: TableDescription, row: Row, position: number, problems: Problem[]): RowChange[] {
  const columns = table.key_columns ?? [table.key];
  const place = { table: table.name, row: position };
  if (columns.length === 0) {
    problems.push({ ...place, rule: "has no key; select its rows with entity_type and where" });
    return [];
  }
  const missing = columns.filter((column) => !Object.hasOwn(row, column));
  problems.push(...missing.map((column) => ({ ...place, column, rule: "names the row; it is missing" })));
  if (missing.length > 0) return [];
  const entries = Object.entries(row);
  const key = Object.fromEntries(entries.filter(([column]) => columns.includes(column)));
  const changes = Object.fromEntries(entries.filter(([column]) => !columns.includes(column)));
  return [{ ...place, key, changes }];
}

/** Removes the rows that `GET` with the same query would find. @throws WorldRefusal */
async function removeFound(request: Request, world: World): Promise<VendorResponse> {
  if (request.body.length > 0) {
    return errorResponse(422, "invalid", `takes a query or a body, not both: ${examples.remove}`);
  }
  const query = readQueryAs(request, removalQuery);
  if (!query.ok) return query.response;
  const { entity_type, ...filter } = query.value;
  const removed = await world.removeFound(entity_type, filter);
  if (removed === 0) return nothingMatches(entity_type);
  return { status: 200, body: { removed, state_version: world.stateVersion } };
}

/** Reads a selection as column values. The world refuses an unknown table. @throws WorldRefusal */
async function whereOf(
  world: World,
  body: { entity_type: string; key?: Row | string | number | undefined; where?: Row | undefined },
): Promise<Row> {
  if (body.where) return body.where;
  const tables = await world.schema();
  const table = tables.find(({ name }) => name === body.entity_type);
  return table ? keyWhere(table, body.key) : { id: body.key };
}

/** Reads a key as column values. @throws WorldRefusal when it does not name exactly the columns of the key. */
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
