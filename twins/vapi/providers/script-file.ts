/** A YAML file, such as a scenario, whose `brain:` serves calls without their own script. Reloads when the file changes. */
import { readFileSync, statSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { type ScriptRule, scriptRules } from "./script.ts";

/** A file with the rules of a script; a scenario is one. */
export const scriptContent = z.looseObject({ brain: scriptRules });

export class ScriptFile {
  readonly #path: string;
  #attributes: string;
  #rules: ScriptRule[];

  /** @throws Error saying what is wrong and where */
  constructor(path: string) {
    this.#path = path;
    this.#attributes = attributesOf(path);
    this.#rules = readRules(path);
  }

  /** The last valid rules. */
  get rules(): ScriptRule[] {
    return this.#rules;
  }

  /**
   * Reads the file again if it has changed.
   * @returns whether there are new rules
   * @throws Error saying what is wrong and where, once per change; the last valid rules stay
   */
  refresh(): boolean {
    const attributes = attributesOf(this.#path);
    if (attributes === this.#attributes) return false;
    this.#attributes = attributes;
    this.#rules = readRules(this.#path);
    return true;
  }
}

/** Identifies the state of the file; empty when it does not exist. */
function attributesOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}

function readRules(path: string): ScriptRule[] {
  const parsed = scriptContent.safeParse(readYaml(path));
  if (parsed.success) return parsed.data.brain;
  throw new Error(`the script ${path} cannot be used:\n${z.prettifyError(parsed.error)}`);
}

function readYaml(path: string): unknown {
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the script ${path} cannot be read: ${reason}`, { cause: error });
  }
}
