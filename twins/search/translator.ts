/** What takes over where the compilers do not recognise a request: a model, if one is configured. */
import type { FieldCatalog } from "../datasets/fields.ts";
import type { Sql } from "../datasets/sql.ts";

export interface TranslatorRequest {
  language: "query-dsl" | "esql";
  /** The request as it came: JSON text of a Query DSL query, or an ES|QL query. */
  text: string;
  fields: FieldCatalog;
  /** The sandbox's time, milliseconds since the Unix epoch. */
  nowMs: number;
  signal: AbortSignal;
}

export interface Translator {
  /**
   * One SELECT over `documents`. For the Query DSL it yields `_row`; for ES|QL the columns of the answer.
   * @throws VendorError when the model gives none that may be run.
   */
  translate(request: TranslatorRequest): Promise<Sql>;
}
