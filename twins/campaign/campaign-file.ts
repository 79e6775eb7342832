/** Reads campaign files; problems name file, line and what would be right. */
import { readFileSync } from "node:fs";
import { isNode, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { specSchema } from "./records.ts";
import { CampaignError } from "./store.ts";

const DEFAULT_VARIANT = { name: "default" };

/** A campaign file, or the options of a command line that stand for one. */
const fileSchema = specSchema.extend({
  /** Default: the names of its scenarios. */
  name: z.string().min(1).max(200).optional(),
  /** Names of scenarios, paths of files or folders, or `all`. */
  scenarios: z.array(z.string().min(1)).min(1),
  repeat: specSchema.shape.repeat.default(1),
  variants: specSchema.shape.variants.default([DEFAULT_VARIANT]),
  /** Id of the campaign to compare with. */
  baseline: z.string().optional(),
});

export type CampaignFile = z.output<typeof fileSchema>;
/** What stands in a file, before defaults. */
export type CampaignFileInput = z.input<typeof fileSchema>;

/**
 * @param overrides what a command line says instead of the file
 * @throws CampaignError listing every problem with file and line
 */
export function readCampaignFile(file: string, overrides: Partial<CampaignFileInput>): CampaignFile {
  const lines = new LineCounter();
  const document = parseDocument(readText(file), { lineCounter: lines, prettyErrors: false });
  const at = (offset: number, problem: string) => `${file}:${lines.linePos(offset).line}: ${problem}`;
  if (document.errors.length > 0) {
    throw new CampaignError(document.errors.map(({ pos, message }) => at(pos[0], message)).join("\n"));
  }
  const content: unknown = document.toJS();
  const merged = typeof content === "object" && content !== null ? { ...content, ...overrides } : content;
  return parse(merged, (path, message) => {
    for (let length = path.length; length > 0; length--) {
      const node = document.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return at(node.range[0], message);
    }
    return at(0, message);
  });
}

/** @throws CampaignError listing every problem */
export function readCampaignOptions(options: Partial<CampaignFileInput>): CampaignFile {
  return parse(options, (_path, message) => message);
}

function parse(content: unknown, place: (path: PropertyKey[], message: string) => string): CampaignFile {
  const parsed = fileSchema.safeParse(content);
  const problems = parsed.success
    ? duplicateVariants(parsed.data)
    : parsed.error.issues.map(({ path, message }) => ({ path, message }));
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new CampaignError(
    problems.map(({ path, message }) => place(path, `${formatPath(path)}${message}`)).join("\n"),
  );
}

function duplicateVariants({ variants }: CampaignFile): { path: PropertyKey[]; message: string }[] {
  const names = variants.map(({ name }) => name);
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [{ path: ["variants", index, "name"], message: `"${name}" is the name of another variant` }],
  );
}

function formatPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "";
  const text = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  return `${text.replace(/^\./, "")}: `;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CampaignError(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  }
}
