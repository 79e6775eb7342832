/**
 * Copies of templates. Two of each template are made ahead, for a sandbox that starts and is reset at once, so that who
 * needs a database takes one instead of waiting for the copying; databases that are done with are dropped behind their owners' backs. Both happen one at a time, in order.
 */
import { randomBytes } from "node:crypto";
import pg from "pg";
import type { Logger } from "pino";
import { everyStep } from "../every-step.ts";
import { type Template, type TemplateServer, tableOwner } from "./templates.ts";

export interface Copies {
  /**
   * A database just as the template is, which belongs to the caller from then on. Nobody but the administrator may connect
   * to it, where the administrator is a superuser.
   */
  take(template: Template): Promise<string>;
  /** Makes the next copies ahead, in the background. What is too large to keep is not made. */
  makeAhead(template: Template): void;
  /** Drops a database in the background. Resolves when it is done; a failure is logged and tried again by `dropAll`. */
  discard(name: string): Promise<void>;
  /** Waits until nothing is under way in the background. */
  settle(): Promise<void>;
  /** Drops what is left, when all is settled. @throws the first error, when all that can be dropped is */
  dropAll(): Promise<void>;
}

export interface CopyServer extends TemplateServer {
  /** How a database is copied: as files where nothing is ever forced to disk, else through the write-ahead log. */
  copyStrategy: "FILE_COPY" | "WAL_LOG";
}

interface Spare {
  name: string;
  template: string;
  bytes: number;
  made: Promise<void>;
}

/** What the copies made ahead may take together; those whose template was used longest ago goes first. */
const sparesEach = 2;
const spareBytes = 256 * 1024 ** 2;
/** Tasks in the background from which on who takes a copy waits for them. */
const longBacklog = 8;

export function createCopies(server: CopyServer, log: Logger): Copies {
  /** Those of the template used longest ago come first. */
  let spares: Spare[] = [];
  const undropped = new Set<string>();
  let backlog: Promise<void> = Promise.resolve();
  let waiting = 0;

  const inBackground = (work: () => Promise<void>): Promise<void> => {
    waiting++;
    const done = backlog.then(work).finally(() => {
      waiting--;
    });
    backlog = done.catch(() => {}); // Whoever asked for it has the error.
    return done;
  };

  const copy = async (template: Template, name: string) => {
    const database = pg.escapeIdentifier(name);
    await server.query(
      `CREATE DATABASE ${database} TEMPLATE ${pg.escapeIdentifier(template.name)} STRATEGY ${server.copyStrategy}`,
    );
    if (!server.superuser) return;
    await server.query(
      `REVOKE ALL ON DATABASE ${database} FROM PUBLIC; GRANT CREATE, TEMPORARY ON DATABASE ${database} TO ${tableOwner}`,
    );
  };

  const drop = async (name: string) => {
    await server.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
    undropped.delete(name);
  };

  const discard = (name: string) => {
    undropped.add(name);
    return inBackground(() => drop(name)).catch((error: unknown) => {
      log.warn({ err: error, database: name }, "a database that is done with could not be dropped");
    });
  };

  const makeSpare = (template: Template) => {
    const name = copyName();
    const made = inBackground(() => copy(template, name));
    made.catch((error: unknown) => {
      log.warn({ err: error }, "a copy of a database could not be made ahead");
      spares = spares.filter((spare) => spare.name !== name);
      void discard(name);
    });
    return { name, template: template.name, bytes: template.bytes, made };
  };

  const makeRoom = () => {
    let bytes = spares.reduce((sum, spare) => sum + spare.bytes, 0);
    while (bytes > spareBytes) {
      const [first, ...rest] = spares;
      if (!first) return;
      spares = rest;
      bytes -= first.bytes;
      void discard(first.name);
    }
  };

  return {
    take: async (template) => {
      if (waiting >= longBacklog) await backlog;
      const spare = spares.find((each) => each.template === template.name);
      if (spare) {
        spares = spares.filter((each) => each !== spare);
        const made = await spare.made.then(
          () => true,
          () => false,
        );
        if (made) return spare.name;
      }
      const name = copyName();
      try {
        await copy(template, name);
      } catch (error) {
        void discard(name);
        throw error;
      }
      return name;
    },
    makeAhead: (template) => {
      const own = spares.filter((spare) => spare.template === template.name);
      const others = spares.filter((spare) => spare.template !== template.name);
      const wanted = Math.min(sparesEach, Math.floor(spareBytes / template.bytes));
      while (own.length < wanted) own.push(makeSpare(template));
      spares = [...others, ...own];
      makeRoom();
    },
    discard,
    settle: async () => {
      while (waiting > 0) await backlog; // What fails asks for one more: to be dropped.
    },
    dropAll: async () => {
      const left = [...undropped, ...spares.map(({ name }) => name)];
      spares = [];
      await everyStep(left.map((name) => () => drop(name)));
    },
  };
}

function copyName(): string {
  return `offhook_copy_${randomBytes(6).toString("hex")}`;
}
