/** `foreach` over fields: repeats a template of streaming commands for each. */
import { compilePipeline } from "../compile-pipeline.ts";
import type { SearchContext } from "../context/search-context.ts";
import type { Relation } from "../relation/relation.ts";
import { hasWildcard, matchingColumns, wildcardMatch } from "../relation/wildcards.ts";
import { commandError } from "../spl-error.ts";
import type { ParsedCommand } from "../syntax/ast.ts";

/** Placeholders in the template. */
interface FieldMarks {
  readonly fieldstr: string;
  readonly matchstr: string;
  /** For the text that the first, second and third wildcard matched. */
  readonly segments: readonly string[];
}

interface Arguments {
  readonly names: readonly string[];
  readonly template: string;
  readonly marks: FieldMarks;
}

export async function eachField(
  { names, template, marks }: Arguments,
  input: Relation,
  context: SearchContext,
): Promise<Relation> {
  const stages = matches(input, names).map((match) =>
    parseStreaming(fillTemplate(template, match, marks), context),
  );
  let rows = input;
  for (const commands of mergeEvals(stages, context))
    rows = await compilePipeline({ commands }, context, rows);
  return rows;
}

interface Match {
  name: string;
  parts: readonly string[];
}

/** Matching fields, each once. A name without a wildcard counts even if the relation lacks it. */
function matches(input: Relation, patterns: readonly string[]): Match[] {
  const found = patterns.flatMap((pattern): Match[] => {
    if (!hasWildcard(pattern)) return [{ name: pattern, parts: [] }];
    return matchingColumns(input, [pattern]).map(({ name }) => ({
      name,
      parts: wildcardMatch(pattern, name) ?? [],
    }));
  });
  return [...new Map(found.reverse().map((match) => [match.name, match])).values()].reverse();
}

function fillTemplate(
  template: string,
  { name, parts }: Match,
  { fieldstr, matchstr, segments }: FieldMarks,
): string {
  const replacements: [string, string][] = [
    [fieldstr, name],
    [matchstr, parts.join("")],
    ...segments.map((mark, index): [string, string] => [mark, parts[index] ?? ""]),
  ];
  return replacements
    .filter(([mark]) => mark !== "")
    .reduce((text, [mark, value]) => text.replaceAll(mark, () => value), template);
}

function parseStreaming(text: string, context: SearchContext): readonly ParsedCommand[] {
  const { commands } = context.parse(text);
  if (commands.some(({ kind }) => kind !== "streaming")) {
    throw commandError("foreach", "Search pipeline may not contain non-streaming commands.", "run");
  }
  return commands;
}

/** Joins evals into one, which computes independent assignments in one SELECT. */
function mergeEvals(
  stages: readonly (readonly ParsedCommand[])[],
  context: SearchContext,
): readonly (readonly ParsedCommand[])[] {
  const evals = stages.flatMap(([first, ...more]) =>
    first?.name === "eval" && more.length === 0 ? [first.rawArgs] : [],
  );
  if (stages.length < 2 || evals.length !== stages.length) return stages;
  return [context.parse(`eval ${evals.join(", ")}`).commands];
}
