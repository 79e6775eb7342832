/** Markdown without what is gone: rows of tables and items of lists that name it. Prose is left to its author. */

/** What a text may name of what goes. */
export interface Gone {
  paths: readonly string[];
  scripts: readonly string[];
  tools: readonly string[];
}

/** Whether a line names a path, a command or a tool that goes. */
function names(line: string, { paths, scripts, tools }: Gone, folder: string): boolean {
  const relative = (each: string) =>
    folder !== "" && each.startsWith(`${folder}/`) ? each.slice(folder.length + 1) : each;
  return (
    paths.some((each) => mentions(line, each) || mentions(line, relative(each))) ||
    scripts.some((name) => mentions(line, `npm run ${name}`)) ||
    tools.some((name) => mentions(line, name))
  );
}

/** Whether the words stand in the line with nothing of a longer name around them. */
function mentions(line: string, words: string): boolean {
  for (let at = line.indexOf(words); at >= 0; at = line.indexOf(words, at + 1)) {
    const before = line[at - 1] ?? " ";
    const after = line[at + words.length] ?? " ";
    if (!/[\w-]/.test(before) && !/[\w-]/.test(after)) return true;
  }
  return false;
}

const isRow = (line: string) => line.startsWith("|");
const isItem = (line: string) => /^\s*(- |\d+\. )/.test(line);
const isContinued = (line: string) => /^\s+\S/.test(line);

/** @param folder of the file, relative to the project; `""`: its root */
export function withoutRows(markdown: string, gone: Gone, folder: string): string {
  const kept: string[] = [];
  let isCode = false;
  let isDropping = false;
  for (const line of markdown.split("\n")) {
    if (line.trimStart().startsWith("```")) isCode = !isCode;
    if (isDropping && isContinued(line) && !isItem(line)) continue;
    isDropping = !isCode && (isRow(line) || isItem(line)) && names(line, gone, folder);
    if (!isDropping) kept.push(line);
  }
  return withoutEmptyTables(kept).join("\n");
}

const isRule = (line: string | undefined) => line !== undefined && /^\|[\s:|-]+\|$/.test(line);

/** A head without rows says nothing. The blank line after it goes with it. */
function withoutEmptyTables(lines: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const isEmptyTable = isRow(line) && !isRow(lines[at - 1] ?? "") && isRule(lines[at + 1]);
    if (isEmptyTable && !isRow(lines[at + 2] ?? "")) at += 2;
    else kept.push(line);
  }
  return kept;
}
