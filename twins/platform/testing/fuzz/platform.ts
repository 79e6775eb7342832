/** Requests to the engine, to control planes, to sandboxes and environments. */
import fc from "fast-check";
import { phrase, time } from "./fields.ts";
import { brokenText, encode, jsonText, queryOf } from "./mutation.ts";
import type { FuzzRequest } from "./request.ts";
import { jsonRefusal, type Shape } from "./rules.ts";
import { type ListedOperation, pathOf, requestsTo } from "./targets.ts";
import { anyOf, hostileString, hostileValue, member, prototypeName, words } from "./text.ts";

export const ownShape: Shape = { refusal: jsonRefusal("error") };

const simulation = fc.oneof(words("s1 s2 s1 s2 nope"), hostileString);
/** In an address: mostly of one that has been made. */
const known = fc.oneof({ weight: 4, arbitrary: words("s1 s2") }, { weight: 1, arbitrary: simulation });
const record = fc.oneof(
  { weight: 8, arbitrary: fc.dictionary(phrase, hostileValue, { maxKeys: 3 }) },
  { weight: 1, arbitrary: hostileValue },
);
const event = { service: phrase, event_type: phrase, data: record };
const engineBodies: readonly [RegExp, fc.Arbitrary<string | Buffer>][] = [
  [/\/events$/, jsonText(fc.oneof(anyOf(event), fc.record(event)))],
  [/\/simulations$/, jsonText(anyOf({ id: simulation, scenario: phrase, metadata: record }))],
];

export const engineRequests = (operations: readonly ListedOperation[]) =>
  requestsTo(operations, ({ method, path }) => {
    const [, body] = engineBodies.find(([ending]) => ending.test(path)) ?? [];
    return fc
      .record({
        path: pathOf(path, { id: known }, known),
        query: queryOf({ limit: words("1 1000 1001 x 1e2"), offset: words("0 -1 99999999999") }),
        body: method === "POST" && body ? body : fc.constant(undefined),
      })
      .map((one) => json(method, `${one.path}${one.query}`, one.body));
  });

/** A table of a twin, as `/sim/schema` describes it. */
export interface ListedTable {
  name: string;
  key: string;
  /** Where several columns identify a row: a key is an object of these. */
  key_columns?: string[] | undefined;
  columns: {
    name: string;
    type: string;
    required: boolean;
    allowed?: unknown[] | undefined;
    /** `table.column` */
    references?: string | undefined;
  }[];
  /** Some of the rows there are. */
  rows: Record<string, unknown>[];
}

type ListedColumn = ListedTable["columns"][number];

const typical: Record<string, fc.Arbitrary<unknown>> = {
  text: fc.oneof(
    { weight: 5, arbitrary: words("checkout maya x a/b 200") },
    { weight: 1, arbitrary: phrase },
  ),
  integer: fc.oneof(fc.nat({ max: 500 }), fc.constantFrom(-1, 2 ** 31, Number.MAX_SAFE_INTEGER)),
  number: fc.double({ noNaN: true, noDefaultInfinity: true }),
  boolean: fc.boolean(),
  timestamp: fc.constantFrom("2026-01-30T09:00:02.243Z", "2026-01-30T09:00:02.000Z", "2027-02-28T00:00:00Z"),
  json: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom<unknown>({}, {}, { a: [1, null] }, []) },
    { weight: 1, arbitrary: hostileValue },
  ),
};

/** A value that a column takes, as far as its table says: mostly one of its type, or one that other rows have. */
function cellOf(tables: readonly ListedTable[], { rows }: ListedTable, column: ListedColumn) {
  const [target = "", targetColumn = ""] = column.references?.split(".") ?? [];
  const referred = tables.find(({ name }) => name === target)?.rows ?? [];
  const there = (from: readonly Record<string, unknown>[], name: string) =>
    from.flatMap((row) => (row[name] === undefined ? [] : [row[name]]));
  const known = column.references === undefined ? there(rows, column.name) : there(referred, targetColumn);
  const isMany = column.references !== undefined && column.type === "json";
  const found = known.length === 0 ? [] : [fc.constantFrom(...known)];
  const wanted =
    column.allowed !== undefined
      ? fc.constantFrom(...column.allowed)
      : column.references !== undefined
        ? fc.oneof(...found.map((arbitrary) => ({ arbitrary, weight: 10 })), { arbitrary: phrase, weight: 1 })
        : fc.oneof(
            { arbitrary: typical[column.type] ?? hostileValue, weight: 1 },
            ...found.map((arbitrary) => ({ arbitrary, weight: 2 })),
          );
  return isMany ? fc.array(wanted, { maxLength: 2 }) : wanted;
}

/** Keys that no row has: of ids, of names, of hashes. */
const newKeys: Record<string, fc.Arbitrary<unknown>> = {
  text: fc.oneof(
    { weight: 3, arbitrary: fc.uuid() },
    { weight: 1, arbitrary: fc.uuid().map((id) => `${id}${id}`.replaceAll("-", "")) },
  ),
  integer: fc.nat({ max: 2 ** 30 }),
};

/** A row that its table mostly takes. */
function plausibleRow(tables: readonly ListedTable[], table: ListedTable): fc.Arbitrary<object> {
  // What the store itself says of an event is not given.
  const given = table.columns.filter(({ name }) => !/^_(source|version|seq_no)$/.test(name));
  const cells = given.map((column): [string, fc.Arbitrary<unknown>] => {
    const value = cellOf(tables, table, column);
    const isKey = column.name === table.key && column.references === undefined;
    const added = isKey ? newKeys[column.type] : undefined;
    const weighed = { arbitrary: value, weight: 1 };
    return [column.name, added === undefined ? value : fc.oneof({ arbitrary: added, weight: 6 }, weighed)];
  });
  const required = table.columns.filter((column) => column.required).map(({ name }) => name);
  const few = fc.record(Object.fromEntries(cells.filter(([name]) => required.includes(name))));
  const some = fc.record(Object.fromEntries(cells), { requiredKeys: required });
  // With each optional column a row is more likely to be refused.
  return fc.oneof(
    few,
    some,
    fc.tuple(some, few, fc.nat({ max: 3 })).map(([all, least, more]) => {
      const added = Object.entries(all)
        .filter(([name]) => !(name in least))
        .slice(0, more);
      return { ...Object.fromEntries(added), ...least };
    }),
  );
}

/** `{table: [rows]}`, mostly as its tables take it. */
function plausibleData(tables: readonly ListedTable[]): fc.Arbitrary<object> {
  return fc.oneof(
    ...tables.map((table) =>
      fc
        .array(plausibleRow(tables, table), { minLength: 1, maxLength: 3 })
        .map((rows) => ({ [table.name]: rows })),
    ),
  );
}

function keyOf({ key, key_columns: columns }: ListedTable, row: Record<string, unknown>): unknown {
  return columns === undefined ? row[key] : Object.fromEntries(columns.map((name) => [name, row[name]]));
}

/** A change or removal of a row that is there. */
function plausibleChange(tables: readonly ListedTable[]): fc.Arbitrary<object> {
  const made = tables
    .filter(({ rows }) => rows.length > 0)
    .map((table) =>
      fc
        .record({ row: fc.constantFrom(...table.rows), changes: plausibleRow(tables, table), kept: fc.nat() })
        .map(({ row, changes, kept }) => {
          const others = Object.entries(changes).filter(([name]) => name !== table.key);
          const changed = others.slice(kept % Math.max(1, others.length)).slice(0, 1);
          return { entity_type: table.name, key: keyOf(table, row), changes: Object.fromEntries(changed) };
        }),
    );
  return made.length === 0 ? fc.constant({}) : fc.oneof(...made);
}

/** Requests to one twin's control plane. @param secret the key, sent with nearly all of them */
export function controlRequests(tables: readonly ListedTable[], secret: string): fc.Arbitrary<FuzzRequest> {
  const table = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...tables.map(({ name }) => name)) },
    { weight: 1, arbitrary: fc.oneof(prototypeName, hostileString) },
  );
  const column = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(...tables.flatMap(({ columns }) => columns.map(({ name }) => name)), "id"),
    },
    { weight: 1, arbitrary: fc.oneof(prototypeName, hostileString) },
  );
  const value = fc.oneof<fc.Arbitrary<unknown>[]>(phrase, time, fc.integer(), hostileValue);
  const row = fc.dictionary(column, value, { maxKeys: 6 });
  const rows = fc.array(row, { maxLength: 3 });
  const data = member(table, rows);
  const where = fc.dictionary(column, value, { maxKeys: 2 });
  const key = fc.oneof<fc.Arbitrary<unknown>[]>(value, where);
  const match = anyOf({
    method: words("GET POST get x"),
    path: words("/ /x* x /a?b"),
    headers: where,
    json: where,
  });
  const fault = anyOf({
    effect: words("status reset hang slow drop freeze close refuse_upgrade truncate x"),
    operation: words("search bulk job.create call.create connection statement nope"),
    status: fc.constantFrom<unknown>(503, 429, 200, "x"),
    match: fc.oneof<fc.Arbitrary<unknown>[]>(match, hostileValue),
    after: fc.integer(),
    times: fc.integer(),
    probability: fc.double(),
    seed: fc.integer(),
    delay_ms: fc.constantFrom(0, 1, -1, 1e9),
    code: fc.integer(),
    bytes_per_second: fc.integer(),
  });
  const paging = queryOf(
    {
      entity_type: table,
      limit: words("1 1000 1001 -1 x 1e2 0x10 +5"),
      offset: words("0 5 -1 99999999999999999999"),
      id: phrase,
      tier: words("vendor control x"),
      operation: words("search x"),
      status: words("200 4xx x"),
      since: time,
      after: phrase,
      order: words("newest oldest x"),
      surface: words("rest mcp graphql x"),
    },
    { max: 4 },
  );
  const clock = anyOf({
    now: time,
    frozen: fc.constantFrom<unknown>(true, false, 1),
    speed: fc.constantFrom<unknown>(1, 10, 0, -1, 1e9),
  });
  const destination = anyOf({
    url: words("http://127.0.0.1:9/x x ftp://x http://u:p@127.0.0.1:9"),
    secret: phrase,
    events: hostileValue,
    headers: where,
  });
  // Rows of these come from elsewhere.
  const writable = tables.filter(({ name }) => !/^(files|fields|pg_.*)$/.test(name));
  const plausible = plausibleData(writable).map((rows) => ({ data: rows }));
  const change = plausibleChange(writable);
  const removal = change.map((made) => ({ ...made, changes: undefined }));
  const routes: readonly [string, string, fc.Arbitrary<unknown> | undefined][] = [
    ["GET", "/sim/health", undefined],
    ["GET", "/sim/manual", undefined],
    ["GET", "/sim/schema", undefined],
    ["GET", "/sim/operations", undefined],
    ["GET", "/sim/data", undefined],
    ["POST", "/sim/data", anyOf({ data })],
    ...Array.from({ length: 4 }, (): (typeof routes)[number] => ["POST", "/sim/data", plausible]),
    ["PATCH", "/sim/data", anyOf({ entity_type: table, key, where, changes: row, data })],
    ["PATCH", "/sim/data", change],
    ["DELETE", "/sim/data", removal],
    ["DELETE", "/sim/data", anyOf({ entity_type: table, key, where })],
    ["DELETE", "/sim/data", undefined],
    ["GET", "/sim/files", undefined],
    ["POST", "/sim/files", hostileValue],
    ["GET", "/sim/files/:name", undefined],
    ["DELETE", "/sim/files/:name", undefined],
    ["GET", "/sim/requests", undefined],
    ["GET", "/sim/requests/:name", undefined],
    ["POST", "/sim/snapshot", anyOf({ content_hash: fc.constantFrom<unknown>(true, 1) })],
    [
      "POST",
      "/sim/reset",
      anyOf({ profile: words("default nope"), data: fc.oneof<fc.Arbitrary<unknown>[]>(data, hostileValue) }),
    ],
    ["POST", "/sim/reset-world", undefined],
    ["GET", "/sim/client", undefined],
    ["PUT", "/sim/client", destination],
    ["POST", "/sim/client", destination],
    ["DELETE", "/sim/client", undefined],
    ["POST", "/sim/client/probe", undefined],
    ["GET", "/sim/clock", undefined],
    ["PUT", "/sim/clock", clock],
    ["GET", "/sim/faults", undefined],
    ["GET", "/sim/faults/templates", undefined],
    ["GET", "/sim/difference", undefined],
    ["POST", "/sim/faults", fault],
    ["DELETE", "/sim/faults", undefined],
    ["DELETE", "/sim/faults/:id", undefined],
    ["GET", "/sim/nope", undefined],
  ];
  const given = fc.oneof(
    { weight: 20, arbitrary: fc.constant(secret) },
    { weight: 1, arbitrary: words("x sandbox_x") },
  );
  const meant = new Set<fc.Arbitrary<unknown> | undefined>([plausible, change, removal]);
  const written = (body: fc.Arbitrary<unknown>) =>
    meant.has(body)
      ? fc.oneof({ weight: 5, arbitrary: body.map((one) => JSON.stringify(one)) }, jsonText(body))
      : jsonText(body);
  return fc.oneof(
    ...routes.map(([method, path, body]) =>
      fc
        .record({
          path: pathOf(path, {}, phrase),
          // `DELETE` takes a query or a body, never both.
          query: body === undefined ? paging : fc.oneof({ weight: 4, arbitrary: fc.constant("") }, paging),
          body: body === undefined ? fc.constant(undefined) : written(body),
          key: given,
        })
        .map((one) => {
          const request = json(method, `${one.path}${one.query}`, one.body);
          return { ...request, headers: { ...request.headers, "x-api-key": one.key } };
        }),
    ),
  );
}

const serviceName = words("elasticsearch splunk vapi postgres engine nope");
const service = anyOf({
  name: serviceName,
  // Nothing with a dataset of its own: each would be read in anew.
  dataset: words("../.env /etc/passwd nope.csv .offhook/authority.pem x/../../y"),
  config: hostileValue,
  dns_aliases: fc.array(phrase, { maxLength: 2 }),
  profile: words("default nope"),
});
/** Services that cannot start: what would start is made without services, and ends by itself. */
const sandbox = anyOf({
  id: words("a-b A x_y dev requests"),
  services: fc.oneof<fc.Arbitrary<unknown>[]>(
    fc.array(service, { minLength: 1, maxLength: 2 }),
    hostileValue,
  ),
  environment: words("default dev nope"),
  layout: words("split legacy x"),
}).map((body) => ({ ttl_seconds: 1, services: [{ name: "nope" }], ...body }));

/** Requests to `/sandboxes` and `/environments`. */
export function organisationRequests(secret: string): fc.Arbitrary<FuzzRequest> {
  const csv = fc.array(
    fc.array(phrase, { maxLength: 4 }).map((cells) => cells.join(",")),
    { maxLength: 4 },
  );
  const upload = fc.oneof(
    csv.map((lines) => lines.join("\n")),
    jsonText(hostileValue),
    brokenText(phrase),
  );
  const made: fc.Arbitrary<FuzzRequest>[] = [
    fc.constant(json("GET", "/sandboxes", undefined)),
    fc.constant(json("GET", "/sandboxes/requests", undefined)),
    queryOf({
      twin: words("engine nope"),
      text: phrase,
      fault: words("any fault-1 x"),
      since: phrase,
      limit: words("1 1e3"),
    }).map((query) => json("GET", `/sandboxes/dev/requests${query}`, undefined)),
    queryOf({ twin: words("engine nope"), table: phrase, until: phrase, offset: words("0 x") }).map((query) =>
      json("GET", `/sandboxes/dev/changes${query}`, undefined),
    ),
    fc
      .record({ id: phrase })
      .map(({ id }) => json("GET", `/sandboxes/${encode(id.slice(0, 200)) || "x"}`, undefined)),
    jsonText(sandbox).map((body) => json("POST", "/sandboxes", body)),
    fc
      .record({
        environment: words("fuzzed dev nope"),
        service: serviceName,
        query: queryOf({ format: words("csv ndjson x"), replace: words("true x"), name: phrase }),
        method: words("POST GET DELETE PUT"),
        body: upload,
      })
      // The dataset of `dev` is what the other targets ask.
      .map(({ environment, service: name, query, method, body }) => ({
        ...json(
          method,
          `/environments/${environment === "dev" && method !== "GET" ? "fuzzed" : environment}/services/${name}/dataset${query}`,
          method === "GET" || method === "DELETE" ? undefined : body,
        ),
      })),
  ];
  const given = fc.oneof(
    { weight: 20, arbitrary: fc.constant(secret) },
    { weight: 1, arbitrary: words("x sandbox_x") },
  );
  return fc
    .tuple(fc.oneof(...made), given)
    .map(([request, key]) => ({ ...request, headers: { ...request.headers, "x-api-key": key } }));
}

function json(method: string, path: string, body: string | Buffer | undefined): FuzzRequest {
  return { method, path, headers: body === undefined ? {} : { "content-type": "application/json" }, body };
}
