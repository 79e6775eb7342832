/** Lookup tables of other add-ons: they have the fields that searches take from them. */
import { z } from "zod";
import type { Knowledge } from "../spl/context/knowledge.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";

const pairs = z.array(z.object({ table: z.string() }));
const lookupArgs = z.object({ name: z.string(), keys: pairs, destinations: pairs });

/** The knowledge with the fields that a search's `lookup` commands name in tables that have none. */
export function withOtherLookups(knowledge: Knowledge, { commands }: Pipeline): Knowledge {
  const fields = new Map<string, Set<string>>();
  for (const { name, args } of commands) {
    const read = name === "lookup" ? lookupArgs.safeParse(args).data : undefined;
    if (read === undefined) continue;
    const known = fields.get(read.name) ?? new Set();
    for (const { table } of [...read.keys, ...read.destinations]) known.add(table);
    fields.set(read.name, known);
  }
  return {
    ...knowledge,
    async lookup(name) {
      const declared = await knowledge.lookup(name);
      const named = [...(fields.get(name) ?? [])];
      if (named.length === 0 || (declared !== undefined && declared.fields.length > 0)) return declared;
      return { fields: named.map((field) => ({ name: field, type: "text", multi: false })), rows: [named] };
    },
  };
}
