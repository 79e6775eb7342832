/** The body of a reset: a profile, or a whole state, which may be larger than memory. */
import { errorResponse, type FieldProblem, type Reading } from "../http/errors.ts";
import { JsonStream, MalformedJson } from "../world/json-stream.ts";
import type { Spool } from "../world/spool.ts";
import { SpooledState, type TableSpan } from "../world/state-source.ts";

export interface ResetOrder {
  profile: string | undefined;
  state: SpooledState | undefined;
}

/** Members of a snapshot besides its tables. */
const SNAPSHOT_MEMBERS = ["state_version", "clock", "content_hash"];
/** Limit of listed problems; a state may have millions of rows. */
const MAX_PROBLEMS = 1000;
const SHAPES =
  '{"profile": "default"}, {"data": {"TABLE": [{"COLUMN": "VALUE"}]}}, {"data": SNAPSHOT}, or no body';

/** Scans the whole body. Checks only that each row is an object; loading checks the rows themselves. */
export async function readResetBody(body: Spool): Promise<Reading<ResetOrder>> {
  const reader = new ResetReader();
  try {
    if (body.bytes > 0) await reader.read(new JsonStream(body.read()));
  } catch (error) {
    if (error instanceof MalformedJson) {
      return { ok: false, response: errorResponse(400, "malformed_json", error.message) };
    }
    throw error;
  }
  const { problems, profile, tables } = reader;
  if (problems.length > 0) {
    const message = `the body is not what this route takes; it takes ${SHAPES}`;
    return { ok: false, response: errorResponse(422, "invalid", message, problems) };
  }
  return { ok: true, value: { profile, state: tables && new SpooledState(body, tables) } };
}

class ResetReader {
  readonly problems: FieldProblem[] = [];
  profile: string | undefined;
  tables: Map<string, TableSpan> | undefined;

  async read(json: JsonStream): Promise<void> {
    const kind = await json.kind();
    if (kind === "end") return;
    if (kind !== "object") await json.value();
    if (kind !== "object") return this.#refuse("", "must be an object");
    const beside: string[] = [];
    for await (const name of json.members()) {
      if (name === "profile") await this.#readProfile(json);
      else if (name === "data") await this.#readData(json);
      else if (name === "tables" && (await json.kind()) === "object") await this.#readTables(json, "tables");
      else {
        await json.value();
        beside.push(name);
      }
    }
    await json.end();
    const isSnapshot = beside.length === 0 || (this.tables !== undefined && this.#isWhole);
    for (const name of beside) {
      if (!isSnapshot || !SNAPSHOT_MEMBERS.includes(name)) this.#refuse(name, "there is no such key here");
    }
    if (this.profile !== undefined && this.tables !== undefined) {
      this.#refuse("", "takes one of profile and data, not both");
    }
  }

  /** Whether the whole body is a snapshot. */
  #isWhole = false;

  async #readProfile(json: JsonStream): Promise<void> {
    const given = await json.value();
    if (typeof given === "string") this.profile = given;
    else this.#refuse("profile", "must be the name of a profile");
  }

  /** Reads tables, or a snapshot that contains them. */
  async #readData(json: JsonStream): Promise<void> {
    if ((await json.kind()) !== "object") {
      await json.value();
      return this.#refuse("data", "must be an object of tables");
    }
    const tables = this.#begin("data");
    const beside: string[] = [];
    let isSnapshot = false;
    for await (const name of json.members()) {
      const kind = await json.kind();
      if (kind === "array") await this.#readTable(json, "data", name, tables);
      else if (name === "tables" && kind === "object") {
        isSnapshot = true;
        if (tables.size > 0) this.#refuse("data", "has tables of its own beside those of a snapshot");
        await this.#readMembers(json, "data.tables", tables);
      } else {
        await json.value();
        beside.push(name);
      }
    }
    for (const name of beside) {
      if (!isSnapshot || !SNAPSHOT_MEMBERS.includes(name))
        this.#refuse(`data.${name}`, "must be an array of rows");
    }
  }

  async #readTables(json: JsonStream, field: string): Promise<void> {
    this.#isWhole = true;
    await this.#readMembers(json, field, this.#begin(field));
  }

  #begin(field: string): Map<string, TableSpan> {
    if (this.tables) this.#refuse(field, "is given more than once");
    this.tables = new Map();
    return this.tables;
  }

  async #readMembers(json: JsonStream, field: string, tables: Map<string, TableSpan>): Promise<void> {
    for await (const name of json.members()) {
      if ((await json.kind()) === "array") await this.#readTable(json, field, name, tables);
      else {
        await json.value();
        this.#refuse(`${field}.${name}`, "must be an array of rows");
      }
    }
  }

  async #readTable(
    json: JsonStream,
    field: string,
    name: string,
    tables: Map<string, TableSpan>,
  ): Promise<void> {
    if (tables.has(name)) this.#refuse(`${field}.${name}`, "is given more than once");
    const start = json.position;
    let row = 0;
    for await (const _ of json.elements()) {
      if ((await json.kind()) !== "object") this.#refuse(`${field}.${name}.${row}`, "a row is an object");
      // Read only to validate it as JSON before anything changes.
      await json.value();
      row++;
    }
    tables.set(name, { start, end: json.position });
  }

  #refuse(field: string, rule: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ field, rule });
  }
}
