/** The knowledge objects of a twin, which searches refer to by name: read from the rows of its tables. */
import type { LogStore, ResultValue } from "@offhook/log-store/store/log-store";
import { emptyRecord } from "@offhook/platform/base/lookup-table";
import { WorldRefusal } from "@offhook/platform/world/world";
import type { Knowledge, LookupDefinition, LookupTable } from "../spl/context/knowledge.ts";
import type { Rows } from "../spl/relation/rows.ts";
import { isLike } from "../spl/relation/wildcards.ts";
import { SplError } from "../spl/spl-error.ts";
import type { EventWriter } from "./event-writer.ts";
import type { LookupDefinitionRow } from "./knowledge-tables.ts";
import { isVisibleIn, type Namespace, type Owned, sortByPrecedence } from "./ownership.ts";
import type { LogQueryTables } from "./tables.ts";

export interface KnowledgeParts {
  tables: LogQueryTables;
  store(): Promise<LogStore>;
  writer: EventWriter;
  /** Index of events that name none. */
  index: string;
  jobResults: Knowledge["jobResults"];
  rest: Knowledge["rest"];
}

export interface NamespacedKnowledge extends Knowledge {
  /** The knowledge as seen in a namespace, which decides which macros and saved searches are visible. */
  within(namespace: Namespace): NamespacedKnowledge;
}

export function createKnowledge(parts: KnowledgeParts): NamespacedKnowledge {
  return knowledgeIn(parts, new LookupFiles(parts.tables), { owner: "nobody", app: "-" });
}

function knowledgeIn(parts: KnowledgeParts, lookups: LookupFiles, namespace: Namespace): NamespacedKnowledge {
  const { tables, store, writer, index, jobResults, rest } = parts;
  const tagRows = () => tables.table("tags").all();
  const nearest = <Thing extends Owned>(things: readonly Thing[]) =>
    sortByPrecedence(
      things.filter((thing) => isVisibleIn(namespace, thing)),
      namespace.owner,
    )[0];
  return {
    within: (other) => knowledgeIn(parts, lookups, other),
    macro(name, args) {
      const row = nearest(tables.table("macros").find({ name: args === 0 ? name : `${name}(${args})` }));
      if (row === undefined) return undefined;
      const { definition, iseval: isEval, validation, errormsg: errorMessage } = row;
      return { name: row.name, args: row.args, definition, isEval, validation, errorMessage };
    },
    savedSearch(name) {
      const row = nearest(tables.table("saved_searches").find({ name }));
      if (!row) return undefined;
      const { search, earliest_time, latest_time } = row;
      return { name, search, earliest: earliest_time || undefined, latest: latest_time || undefined };
    },
    lookup: async (name) => lookups.read(name),
    writeLookup: async (name, rows, mode) => lookups.write(name, rows, mode),
    removeLookup: async (name) => lookups.remove(name),
    tagged: (tag) =>
      tagRows().flatMap((row) => (row.tags.some((own) => isLike(own, tag)) ? pairOf(row.name) : [])),
    tagsOf: (field, value) => tables.table("tags").get(`${field}=${value}`)?.tags ?? [],
    eventType(name) {
      const row = tables.table("event_types").get(name);
      return row && !row.disabled ? row.search : undefined;
    },
    eventTypes: () =>
      tables
        .table("event_types")
        .all()
        .flatMap((row) => (row.disabled ? [] : [row.name])),
    dataModel(name) {
      const objects = tables.table("data_models").get(name)?.objects ?? [];
      return objects.map(({ name: object, constraint, fields }) => ({
        model: name,
        object,
        constraint,
        fields,
      }));
    },
    jobResults,
    rest,
    async collect(events) {
      const known = await indexNames(tables, store);
      await writer.write(
        events.map(
          ({ raw, timeMs, fields: { index: named = index, host, source, sourcetype, ...fields } }) => {
            if (!known.includes(named))
              throw new SplError(
                `Error in 'collect' command: The specified index '${named}' does not exist.`,
                "run",
              );
            return {
              raw,
              timeMicros: Math.round(timeMs * 1000),
              index: named,
              host: host ?? COLLECTED.host,
              source: source ?? COLLECTED.source,
              sourcetype: sourcetype ?? COLLECTED.sourcetype,
              fields: Object.entries(fields).map(([name, value]) => [name, [value]] as const),
            };
          },
        ),
      );
    },
    indexes: () => indexNames(tables, store),
    defaultIndexes: () => [index],
  };
}

/** Origin of summary events that do not name their own. */
const COLLECTED = { host: "splunk", source: "collect", sourcetype: "stash" };

/** Names of the indexes: of the table, and of all events. */
async function indexNames(tables: LogQueryTables, store: () => Promise<LogStore>): Promise<string[]> {
  const counts = await (await store()).counts();
  const declared = tables.table("indexes").all();
  return [...new Set([...declared.map(({ name }) => name), ...counts.keys()])].sort();
}

function pairOf(name: string): { field: string; value: string }[] {
  const at = name.indexOf("=");
  return [{ field: name.slice(0, at), value: name.slice(at + 1) }];
}

/** Key of a lookup that has a file and no definition. */
const noDefinition = {};

/** Lookup files as searches use them. */
class LookupFiles {
  readonly #tables: LogQueryTables;
  /** By the rows of file and definition: a change replaces these, and with them the cached table. */
  readonly #parsed = new WeakMap<object, WeakMap<object, LookupTable>>();

  constructor(tables: LogQueryTables) {
    this.#tables = tables;
  }

  read(name: string): LookupTable | undefined {
    const row = this.#tables.table("lookups").get(this.#findFile(name) ?? "");
    if (!row) return undefined;
    const definition = this.#tables.table("lookup_definitions").get(name);
    const byDefinition = this.#parsed.get(row) ?? new WeakMap<object, LookupTable>();
    this.#parsed.set(row, byDefinition);
    const table = byDefinition.get(definition ?? noDefinition) ?? {
      fields: row.fields.map((field) => ({ name: field, type: "text" as const, multi: false })),
      rows: row.rows.map((values) => row.fields.map((field) => values[field] || null)),
      ...(definition && { definition: definitionOf(definition) }),
    };
    byDefinition.set(definition ?? noDefinition, table);
    return table;
  }

  /** Writes rows to a file. Appending keeps the file's columns, and adds new ones. @throws SplError */
  write(name: string, given: Rows, mode: "replace" | "append"): void {
    const lookups = this.#tables.table("lookups");
    const file =
      this.#findFile(name) ?? this.#tables.table("lookup_definitions").get(name)?.filename ?? fileName(name);
    const before = mode === "append" ? lookups.get(file) : undefined;
    const fields = [...new Set([...(before?.fields ?? []), ...given.fields.map((field) => field.name)])];
    const rows = [...(before?.rows ?? []), ...given.rows.map((row) => cellsOf(given, row))];
    try {
      if (lookups.get(file)) lookups.update(file, { fields, rows });
      else lookups.insert({ name: file, fields, rows });
    } catch (error) {
      if (!(error instanceof WorldRefusal)) throw error;
      throw new SplError(
        `Error in 'outputlookup' command: Could not write to file '${file}': ${error.message}`,
        "run",
      );
    }
  }

  remove(name: string): void {
    const file = this.#findFile(name);
    if (file !== undefined) this.#tables.table("lookups").remove(file);
  }

  /** Finds the file of a lookup: by its definition, its name, or its name without `.csv`. */
  #findFile(name: string): string | undefined {
    const defined = this.#tables.table("lookup_definitions").get(name)?.filename;
    return [defined, name, `${name}.csv`].find(
      (file) => file !== undefined && this.#tables.table("lookups").get(file),
    );
  }
}

function definitionOf(row: LookupDefinitionRow): LookupDefinition {
  return {
    matchType: row.match_type,
    caseSensitive: row.case_sensitive_match,
    minMatches: row.min_matches,
    defaultMatch: row.default_match,
    ...(row.max_matches !== null && { maxMatches: row.max_matches }),
    ...(row.time_field !== null && { timeField: row.time_field }),
    ...(row.time_format !== null && { timeFormat: row.time_format }),
    ...(row.max_offset_secs !== null && { maxOffsetSeconds: row.max_offset_secs }),
    ...(row.min_offset_secs !== null && { minOffsetSeconds: row.min_offset_secs }),
  };
}

const fileName = (name: string) => (/\.csv(\.gz)?$/.test(name) ? name : `${name}.csv`);

/** Converts a row to the cells of a file: texts, without absent values, and multiple values on lines of their own. */
function cellsOf({ fields }: Rows, row: readonly ResultValue[]): Record<string, string> {
  const cells = emptyRecord<string>();
  fields.forEach(({ name }, place) => {
    const value = row[place] ?? null;
    if (value !== null) cells[name] = Array.isArray(value) ? value.join("\n") : String(value);
  });
  return cells;
}
