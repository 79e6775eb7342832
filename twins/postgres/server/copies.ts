/**
 * Copies of templates. Two spare copies of each template are made ahead, enough for a sandbox that starts and is reset at once, so that
 * taking a database need not wait. Copies are made ahead, and old databases dropped, in the background, one at a time and in order.
 */
import { randomBytes } from "node:crypto";
import pg from "pg";
import type { Logger } from "pino";
import { everyStep } from "../every-step.ts";
import { type Template, type TemplateServer, tableOwner } from "./templates.ts";

export interface Copies {
  /**
   * A copy of the template, owned by the caller from then on. If the administrator is a superuser, only the administrator may connect
   * to it.
   */
  take(template: Template): Promise<string>;
  /** Makes spare copies in the background, unless the template is too large. */
  makeAhead(template: Template): void;
  /** Drops a database in the background. Resolves when it is done; logs a failure, which `dropAll` retries. */
  discard(name: string): Promise<void>;
  /** Resolves when no background work is left. */
  settle(): Promise<void>;
  /** Drops what is left; call it after `settle`. Tries to drop all. @throws the first error */
  dropAll(): Promise<void>;
}

export interface CopyServer extends TemplateServer {
  /** FILE_COPY is faster where nothing is flushed to disk (fsync off). */
  copyStrategy: "FILE_COPY" | "WAL_LOG";
}

interface Spare {
  name: string;
  template: string;
  bytes: number;
  made: Promise<void>;
}

/** Spare copies of each template, and bytes of all; the least recently used template loses its spares first. */
const SPARES_PER_TEMPLATE = 2;
const MAX_SPARE_BYTES = 256 * 1024 ** 2;
/** Background tasks from which on `take` waits for them. */
const MAX_BACKLOG = 8;

export function createCopies(server: CopyServer, log: Logger): Copies {
  /** By template, the least recently used first. */
  let spares: Spare[] = [];
  const undropped = new Set<string>();
  let backlog: Promise<void> = Promise.resolve();
  let waiting = 0;

  const inBackground = (work: () => Promise<void>): Promise<void> => {
    waiting++;
    const done = backlog.then(work).finally(() => {
      waiting--;
    });
    backlog = done.catch(() => {}); // The caller gets the error.
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
      log.warn({ err: error, database: name }, "could not drop a database that is no longer used");
    });
  };

  const makeSpare = (template: Template) => {
    const name = copyName();
    const made = inBackground(() => copy(template, name));
    made.catch((error: unknown) => {
      log.warn({ err: error }, "could not make a spare copy of a database");
      spares = spares.filter((spare) => spare.name !== name);
      void discard(name);
    });
    return { name, template: template.name, bytes: template.bytes, made };
  };

  const makeRoom = () => {
    let bytes = spares.reduce((sum, spare) => sum + spare.bytes, 0);
    while (bytes > MAX_SPARE_BYTES) {
      const [first, ...rest] = spares;
      if (!first) return;
      spares = rest;
      bytes -= first.bytes;
      void discard(first.name);
    }
  };

  return {
    take: async (template) => {
      if (waiting >= MAX_BACKLOG) await backlog;
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
      const wanted = Math.min(SPARES_PER_TEMPLATE, Math.floor(MAX_SPARE_BYTES / template.bytes));
      while (own.length < wanted) own.push(makeSpare(template));
      spares = [...others, ...own];
      makeRoom();
    },
    discard,
    settle: async () => {
      while (waiting > 0) await backlog; // A failed copy queues a drop.
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
