/**
 * Follows one connection in both directions and records each statement in the journal: when the client sends it, and its outcome
 * when the server answers. Source: "Frontend/Backend Protocol" of the Postgres manual.
 */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { Journal } from "@offhook/platform/journal/journal";
import { readTraceComment } from "./describe-statement.ts";
import { maskStatement } from "./mask-statement.ts";
import { FieldReader, MessageReader } from "./message-reader.ts";
import { readParameters, type ShownParameters } from "./parameter-values.ts";
import {
  type RunningStatement,
  readServerError,
  recordStatement,
  type ServerError,
  type Session,
} from "./statement-journal.ts";

/** Estimated memory for the prepared statements, and for the portals, of one connection. */
const MAX_BYTES = 512 * 1024;
const ENTRY_BYTES = 200;

interface Prepared {
  text: string;
  traceparent?: string | undefined;
  secretParameters: ReadonlySet<number>;
  /** Types of its parameters; 0 where the client left the type to the server, which has not said it yet. */
  oids: number[];
}

interface Bound {
  statement: Prepared | undefined;
  parameters: ShownParameters;
}

/** Values by name; the oldest are evicted beyond `MAX_BYTES`. */
class BoundedNames<Value> {
  readonly #entries = new Map<string, { value: Value; bytes: number }>();
  #bytes = 0;

  get(name: string): Value | undefined {
    return this.#entries.get(name)?.value;
  }

  set(name: string, value: Value, length: number): void {
    this.delete(name);
    const bytes = ENTRY_BYTES + length * 2;
    this.#entries.set(name, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= MAX_BYTES || oldest === name) return;
      this.delete(oldest);
    }
  }

  delete(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
  }
}

/** A request of the client that the server has not answered yet. */
interface Exchange {
  kind: "startup" | "query" | "parse" | "bind" | "describe" | "execute" | "close" | "sync" | "function";
  statement?: Prepared | undefined;
  running?: RunningStatement;
  commands: string[];
  rows: number;
  /** Rows sent since the last command tag. */
  rowsSent: number;
}

/** Bytes of a message that are read, by the letter of its type. */
const bytesOfClient = lookupTable<number>({ Q: 64_000, P: 64_000, B: 32_000, D: 256, E: 256, C: 256 });
const bytesOfServer = lookupTable<number>({ C: 64, E: 8_000, S: 256, t: 4_096 });

export class SessionLog {
  readonly #journal: Pick<Journal, "record">;
  readonly #session: Session;
  readonly #statements = new BoundedNames<Prepared>();
  readonly #portals = new BoundedNames<Bound>();
  #open: Exchange[] = [];
  /** The server skips everything up to the next Sync. */
  #isSkipping = false;
  #isCopyingIn = false;

  readonly #client = this.#reader(bytesOfClient, {
    Q: (fields) => this.#query(fields),
    P: (fields) => this.#parse(fields),
    B: (fields) => this.#bind(fields),
    E: (fields) => this.#execute(fields),
    D: (fields) => this.#expect("describe", this.#named(fields)),
    C: (fields) => this.#close(fields),
    F: () => this.#expect("function"),
    S: () => this.#sync(),
    c: () => this.#copyEnded(),
    f: () => this.#copyEnded(),
  });
  readonly #server = this.#reader(bytesOfServer, {
    D: () => this.#row(),
    C: (fields) => this.#command(fields.text()),
    I: () => this.#command(undefined),
    s: () => this.#command(undefined),
    1: () => this.#answered("parse"),
    2: () => this.#answered("bind"),
    3: () => this.#answered("close"),
    T: () => this.#answered("describe"),
    n: () => this.#answered("describe"),
    t: (fields) => this.#parameterTypes(fields),
    G: () => this.#copyBegun(),
    E: (fields) => this.#error(readServerError(fields)),
    S: (fields) => this.#setting(fields),
    Z: () => this.#ready(),
  });

  /** @param parameters of the client's startup packet */
  constructor(journal: Pick<Journal, "record">, parameters: ReadonlyMap<string, string>) {
    const user = parameters.get("user") ?? "";
    this.#journal = journal;
    this.#session = {
      user,
      database: parameters.get("database") ?? user,
      application: parameters.get("application_name") ?? "",
    };
    this.#expect("startup");
  }

  clientSent(chunk: Buffer): void {
    this.#client.push(chunk);
  }

  serverSent(chunk: Buffer): void {
    this.#server.push(chunk);
  }

  /** Call it when the connection has ended. */
  ended(): void {
    for (const { running } of this.#open) running?.dropped("the connection ended before an answer came");
    this.#open = [];
  }

  #reader(kept: Record<string, number>, read: Record<string, (fields: FieldReader) => void>) {
    return new MessageReader({
      wantedBytes: (type) => kept[String.fromCharCode(type)] ?? 0,
      message: (type, body) => read[String.fromCharCode(type)]?.(new FieldReader(body)),
    });
  }

  #query(fields: FieldReader): void {
    const { text, traceparent } = readTraceComment(fields.text());
    this.#run("query", { protocol: "simple", statement: maskStatement(text).text, traceparent });
  }

  #parse(fields: FieldReader): void {
    const name = fields.text();
    const { text, traceparent } = readTraceComment(fields.text());
    const masked = maskStatement(text);
    const statement: Prepared = { ...masked, traceparent, oids: readOids(fields) };
    if (!this.#isSkipping)
      this.#statements.set(name, statement, masked.text.length + statement.oids.length * 4);
    this.#expect("parse", statement);
  }

  #bind(fields: FieldReader): void {
    const portal = fields.text();
    const statement = this.#statements.get(fields.text());
    const { values, leftOut } = readParameters(fields, (index) => statement?.oids[index] ?? 0);
    const shown = values.map((value, index) =>
      statement?.secretParameters.has(index + 1) && value !== null ? "***" : value,
    );
    const parameters: ShownParameters = { values: shown, leftOut };
    if (!this.#isSkipping) this.#portals.set(portal, { statement, parameters }, JSON.stringify(shown).length);
    this.#expect("bind", statement);
  }

  #execute(fields: FieldReader): void {
    const bound = this.#portals.get(fields.text());
    const statement = bound?.statement;
    const record = {
      statement: statement?.text ?? null,
      traceparent: statement?.traceparent,
      parameters: bound?.parameters,
    };
    this.#run("execute", { protocol: "extended", ...record }, statement);
  }

  #close(fields: FieldReader): void {
    const names = String.fromCharCode(fields.byte()) === "S" ? this.#statements : this.#portals;
    names.delete(fields.text());
    this.#expect("close");
  }

  /** The statement that a Describe names. */
  #named(fields: FieldReader): Prepared | undefined {
    const kind = String.fromCharCode(fields.byte());
    const name = fields.text();
    return kind === "S" ? this.#statements.get(name) : this.#portals.get(name)?.statement;
  }

  #run(kind: "query" | "execute", record: Parameters<typeof recordStatement>[2], statement?: Prepared): void {
    const running = recordStatement(this.#journal, this.#session, record);
    if (this.#isSkipping) running.dropped(pipelineFailed);
    else this.#open.push({ ...exchange(kind), running, statement });
  }

  #expect(kind: Exchange["kind"], statement?: Prepared): void {
    if (!this.#isSkipping) this.#open.push({ ...exchange(kind), statement });
  }

  #sync(): void {
    this.#isSkipping = false;
    this.#expect("sync");
  }

  #copyBegun(): void {
    this.#isCopyingIn = true;
  }

  /** The server ignores a Sync during a COPY in. */
  #copyEnded(): void {
    const [head] = this.#open;
    if (this.#isCopyingIn && head?.kind === "execute") this.#open = [head];
    this.#isCopyingIn = false;
  }

  #row(): void {
    const [head] = this.#open;
    if (head) head.rowsSent += 1;
  }

  /** @param tag absent when the statement was empty, or more rows are to come */
  #command(tag: string | undefined): void {
    const [head] = this.#open;
    if (!head?.running) return;
    head.rows += rowsOf(tag) ?? head.rowsSent;
    head.rowsSent = 0;
    if (tag !== undefined) head.commands.push(tag);
    if (head.kind === "execute") {
      head.running.done(head);
      this.#open.shift();
    }
  }

  #answered(kind: Exchange["kind"]): void {
    if (this.#open[0]?.kind === kind) this.#open.shift();
  }

  #parameterTypes(fields: FieldReader): void {
    const [head] = this.#open;
    if (head?.kind !== "describe" || !head.statement) return;
    head.statement.oids = readOids(fields);
  }

  #setting(fields: FieldReader): void {
    if (fields.text() === "application_name") this.#session.application = fields.text();
  }

  #error(error: ServerError): void {
    this.#isCopyingIn = false;
    const [head] = this.#open;
    if (!head) return;
    if (head.kind === "query") head.running?.failed(error);
    else if (head.kind === "startup") this.#failed({ protocol: "connection", statement: null }, error);
    // An error at the Sync is that of the implicit COMMIT of the pipeline.
    else if (head.kind === "sync") this.#failed({ protocol: "extended", statement: "COMMIT" }, error);
    else if (head.kind === "function") this.#failed({ protocol: "extended", statement: null }, error);
    else this.#pipelineFailed(head, error);
  }

  /** The server skips what follows, up to the next Sync. */
  #pipelineFailed(head: Exchange, error: ServerError): void {
    const sync = this.#open.findIndex(({ kind }) => kind === "sync");
    const skipped = sync === -1 ? this.#open : this.#open.slice(0, sync);
    this.#open = sync === -1 ? [] : this.#open.slice(sync);
    this.#isSkipping = sync === -1;
    const culprit = skipped.find((one) => one.running && (one === head || one.statement === head.statement));
    if (culprit) culprit.running?.failed(error);
    else this.#failed({ protocol: "extended", statement: head.statement?.text ?? null }, error);
    for (const one of skipped) one.running?.dropped(pipelineFailed);
  }

  /** Records a failure that belongs to no recorded statement. */
  #failed(record: Parameters<typeof recordStatement>[2], error: ServerError): void {
    recordStatement(this.#journal, this.#session, record).failed(error);
  }

  /** Ends everything up to the exchange that the server is ready after. */
  #ready(): void {
    this.#isCopyingIn = false;
    for (let head = this.#open.shift(); head; head = this.#open.shift()) {
      head.running?.done(head);
      if (["startup", "query", "sync", "function"].includes(head.kind)) return;
    }
  }
}

const pipelineFailed = "not run: a statement before it in the same pipeline failed";

function exchange(kind: Exchange["kind"]): Exchange {
  return { kind, commands: [], rows: 0, rowsSent: 0 };
}

/** Types of parameters, as many as the message has. */
function readOids(fields: FieldReader): number[] {
  const count = fields.uint16();
  const oids: number[] = [];
  while (oids.length < count && fields.has(4)) oids.push(fields.int32());
  return oids;
}

/** The count at the end of a command tag, such as 3 in `SELECT 3`; a command without one has no rows. */
function rowsOf(tag: string | undefined): number | undefined {
  if (tag === undefined) return undefined;
  const count = Number(tag.slice(tag.lastIndexOf(" ") + 1));
  return Number.isInteger(count) ? count : 0;
}
