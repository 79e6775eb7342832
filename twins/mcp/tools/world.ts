/** The rows of twins: tables, rows, and what changed since the last reset. */
import { z } from "zod";
import { anyObject, maxText, paged, paging, twinName } from "../arguments.ts";
import { excerptOf, nextOffset, takeFitting } from "../bounds.ts";
import { ControlPlanes, ToolError } from "../project.ts";
import { defineTool } from "../tool.ts";

const row = z.record(z.string(), z.unknown());
const schemaAnswer = z.object({
  tables: z.array(
    z.looseObject({
      name: z.string(),
      description: z.string().nullish(),
      columns: z.array(
        z.looseObject({ name: z.string(), type: z.string(), description: z.string().nullish() }),
      ),
    }),
  ),
});
const countsAnswer = z.object({ counts: z.record(z.string(), z.number()) });
const rowsAnswer = z.object({ rows: z.array(row), total: z.number() });
const differenceAnswer = z.object({
  tables: z.record(z.string(), anyObject),
  uncompared: z.array(z.string()),
  rows: z.array(row),
  total: z.number(),
});

export const worldTools = [
  defineTool({
    name: "list_tables",
    title: "List a twin's tables",
    description:
      "The tables of a twin's state with their columns and row counts. Use it before read_rows, to know what to ask for.",
    kind: "read",
    input: { twin: twinName },
    output: {
      tables: z.array(
        z.object({
          name: z.string(),
          rows: z.number().nullable(),
          description: z.string().nullable(),
          columns: z.record(z.string(), z.string()).describe("Types by column"),
        }),
      ),
    },
    async run({ twin }, { project }) {
      const planes = new ControlPlanes(project);
      const { tables } = schemaAnswer.parse(await planes.ofTwin("GET", twin, "schema"));
      const { counts } = countsAnswer.parse(await planes.ofTwin("GET", twin, "data"));
      return {
        tables: tables.map(({ name, description, columns }) => ({
          name,
          rows: counts[name] ?? null,
          description: description ?? null,
          columns: Object.fromEntries(columns.map((column) => [column.name, column.type])),
        })),
      };
    },
  }),

  defineTool({
    name: "read_rows",
    title: "Read rows of a table",
    description:
      "Rows of a twin's table, filtered by column values. Use it to see what a tool really wrote, or what it could have found.",
    kind: "read",
    input: {
      twin: twinName,
      table: z.string().min(1).describe("A name of list_tables"),
      where: z
        .record(z.string(), z.string())
        .default({})
        .describe('Column values as text, such as {"status": "open"}'),
      columns: z.array(z.string()).min(1).optional().describe("Only these columns; default: all"),
      max_text: maxText,
      ...paging,
    },
    output: { rows: z.array(row), ...paged },
    async run({ twin, table, where, columns, max_text, limit, offset }, { project }) {
      const reserved = ["entity_type", "limit", "offset"].find((name) => name in where);
      if (reserved !== undefined) {
        throw new ToolError(
          `where names columns; ${reserved} is no column: give table, limit and offset beside it`,
        );
      }
      const query = { ...where, entity_type: table, limit, offset };
      const answer = await new ControlPlanes(project).ofTwin("GET", twin, "data", query);
      const { rows, total } = rowsAnswer.parse(answer);
      const unknown = columns?.filter((name) => rows[0] !== undefined && !(name in rows[0]));
      if (unknown !== undefined && unknown.length > 0) {
        throw new ToolError(
          `${table} has no column ${unknown.join(", ")}; it has ${Object.keys(rows[0] ?? {}).join(", ")}`,
        );
      }
      const shown = takeFitting(rows.map((each) => cutRow(each, max_text, columns)));
      return { rows: shown, total, next_offset: nextOffset(offset, shown.length, total) };
    },
  }),

  defineTool({
    name: "read_difference",
    title: "Read what changed since the last reset",
    description:
      "The rows that were added, changed (column by column) and removed since the start or the last reset. Use it after a run to see all that it did to one twin, and nothing else.",
    kind: "read",
    input: {
      twin: twinName,
      table: z.string().min(1).optional().describe("Only this table"),
      max_text: maxText,
      ...paging,
    },
    output: {
      tables: z.record(z.string(), anyObject).describe("Counts of each table that changed"),
      uncompared: z.array(z.string()).describe("Tables of which only the writes are counted"),
      rows: z.array(row),
      ...paged,
    },
    async run({ twin, table, max_text, limit, offset }, { project }) {
      const planes = new ControlPlanes(project);
      const query = { table, limit, offset };
      const answer = await planes.ofTwin("GET", twin, "difference", query);
      const { tables, uncompared, rows, total } = differenceAnswer.parse(answer);
      // Nothing changed, or there is no such table.
      if (table !== undefined && total === 0) await requireTable(planes, twin, table);
      const shown = takeFitting(rows.map((each) => cutRow(each, max_text)));
      return { tables, uncompared, rows: shown, total, next_offset: nextOffset(offset, shown.length, total) };
    },
  }),
];

/** @throws ToolError */
async function requireTable(planes: ControlPlanes, twin: string, table: string): Promise<void> {
  const { tables } = schemaAnswer.parse(await planes.ofTwin("GET", twin, "schema"));
  const names = tables.map(({ name }) => name);
  if (!names.includes(table)) {
    throw new ToolError(`${twin} has no table "${table}"; it has ${names.join(", ")}`);
  }
}

function cutRow(
  values: Record<string, unknown>,
  maxCharacters: number,
  columns: readonly string[] = Object.keys(values),
): Record<string, unknown> {
  return Object.fromEntries(columns.map((name) => [name, excerptOf(values[name], maxCharacters)]));
}
