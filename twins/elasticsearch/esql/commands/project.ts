/** KEEP, DROP and RENAME: selection, order and names of columns. */
import { matchesParts } from "@offhook/platform/base/star-pattern";
import type { Compiler } from "../compiler.ts";
import { didYouMean } from "../params.ts";
import type { Column } from "../pipeline.ts";
import type { Command, NamePattern } from "../syntax.ts";

/**
 * Columns are ordered by the patterns that match them. A column that several patterns match goes to the most specific
 * one (full name, pattern, `*`), of equally specific ones to the last.
 */
export function compileKeep(compiler: Compiler, { patterns }: Extract<Command, { kind: "keep" }>): void {
  const { pipeline } = compiler;
  const kept = new Map<Column, number>();
  for (const pattern of patterns) {
    const rank = precedence(pattern);
    for (const column of findColumns(compiler, pattern)) {
      const before = kept.get(column);
      if (before !== undefined && before < rank) continue;
      kept.delete(column);
      kept.set(column, rank);
    }
  }
  pipeline.columns = [...kept.keys()];
}

function precedence({ parts }: NamePattern): number {
  if (parts.length === 1) return 0;
  return parts.every((part) => part === "") ? 2 : 1;
}

export function compileDrop(compiler: Compiler, { patterns }: Extract<Command, { kind: "drop" }>): void {
  const { pipeline } = compiler;
  const dropped = new Set(patterns.flatMap((pattern) => findColumns(compiler, pattern)));
  pipeline.columns = pipeline.columns.filter((column) => !dropped.has(column));
}

/** Renames apply one after another. */
export function compileRename(compiler: Compiler, { renames }: Extract<Command, { kind: "rename" }>): void {
  const { pipeline } = compiler;
  const gone = new Map<string, string>();
  for (const { from, to } of renames) {
    const column = compiler.find(from.text);
    if (!column) {
      const before = gone.get(from.text);
      const message =
        before === undefined
          ? `Unknown column [${from.text}]${didYouMean(
              from.text,
              pipeline.columns.map(({ name }) => name),
            )}`
          : `Column [${from.text}] renamed to [${before}] and is no longer available [${from.text} AS ${to.text}]`;
      compiler.problems.unresolved(from.at, message);
      continue;
    }
    if (from.text === to.text) continue;
    gone.set(from.text, to.text);
    pipeline.columns = pipeline.columns
      .filter(({ name }) => name !== to.text)
      .map((existing) => (existing === column ? { ...column, name: to.text } : existing));
  }
}

function findColumns(compiler: Compiler, pattern: NamePattern): Column[] {
  const { columns } = compiler.pipeline;
  const [only, ...more] = pattern.parts;
  if (more.length === 0) {
    const column = compiler.find(only ?? "");
    if (column) return [column];
    compiler.problems.unresolved(
      pattern.at,
      `Unknown column [${pattern.text}]${didYouMean(
        pattern.text,
        columns.map(({ name }) => name),
      )}`,
    );
    return [];
  }
  const found = columns.filter(({ name }) => matchesParts(name, pattern.parts));
  const everything = pattern.parts.every((part) => part === "");
  if (found.length === 0 && !everything) {
    compiler.problems.unresolved(pattern.at, `No matches found for pattern [${pattern.text}]`);
  }
  return found;
}
