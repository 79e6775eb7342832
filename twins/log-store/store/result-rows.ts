/** What a statement has found, as plain JavaScript. */
import type { DuckDBMaterializedResult } from "@duckdb/node-api";
import { Slices } from "../slices.ts";
import { plain } from "./duckdb.ts";
import type { ResultValue } from "./log-store.ts";

/**
 * All rows of a result. It is in memory as a whole, so that nobody need wait for its parts one by one; of many rows each part is read
 * column by column, and others have their turn in between.
 */
export async function rowsOf(result: DuckDBMaterializedResult): Promise<ResultValue[][]> {
  const rows: ResultValue[][] = [];
  const slices = new Slices();
  for (let number = 0; number < result.chunkCount; number++) {
    const chunk = result.getChunk(number);
    const { rowCount, columnCount } = chunk;
    const part = Array.from({ length: rowCount }, (): ResultValue[] => []);
    for (let column = 0; column < columnCount; column++) {
      const vector = chunk.getColumnVector(column);
      for (const [index, row] of part.entries()) row.push(plain(vector.getItem(index)));
      if (slices.over) await slices.next();
    }
    for (const row of part) rows.push(row);
  }
  return rows;
}
