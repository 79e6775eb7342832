/** How the database behaves, for who drives it. */
import type { TwinManual } from "@offhook/platform/twin/manual";

export const postgresManual: TwinManual = {
  credentials: [
    {
      id: "postgres.role",
      text: "The role and password of the connection string are accepted; a wrong password is refused in Postgres' own words.",
    },
    { id: "postgres.no-http", text: "It does not speak HTTP: every request to it is answered with 404." },
  ],
  repeatedWrites: [
    {
      id: "postgres.insert-again",
      text: "Inserting a row with a key that exists fails as in Postgres, with unique_violation (23505).",
    },
    {
      id: "postgres.insert-without-key",
      text: "Inserting the same values twice where the database makes the key stores two rows.",
    },
  ],
  notes: [
    {
      id: "postgres.sequences",
      text: "Where its number sequences stand is shown as the table pg_sequences, whose rows can be changed, not added or removed; a snapshot has them too.",
    },
    {
      id: "postgres.profiles",
      text: "It has the profile default, which is its schema and seed, and those that its service names under profiles.",
    },
    {
      id: "postgres.reset",
      text: "A reset to the start or to a profile replaces the database: connections end, and tables created since are gone.",
    },
    {
      id: "postgres.statements",
      text: "Each statement of a client is in /sim/requests, with its parameters, and when it is over with how many rows it had, or with its SQLSTATE.",
    },
    {
      id: "postgres.tables",
      text: "Tables that the code under test makes belong to the world at once.",
    },
    {
      id: "postgres.definitions",
      text: "What the code under test has defined, changed or dropped since the start is shown as the table pg_definitions; a snapshot includes it, and a reset with that snapshot restores it, in a new database if the present definitions differ. Policies, rules, grants, extensions and aggregates are not part of it.",
    },
    {
      id: "postgres.clock",
      text: "now() in the database, column defaults included, is its server's time, whatever the sandbox's clock says.",
    },
    {
      id: "postgres.faults",
      text: "Faults are reset, hang and slow (with delay_ms), for the operations connection and statement.",
    },
  ],
};
