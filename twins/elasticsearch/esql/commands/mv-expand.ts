/** MV_EXPAND: one row for each value of a column. */
import type { Compiler } from "../compiler.ts";
import type { Command } from "../syntax.ts";

export function compileMvExpand(
  compiler: Compiler,
  { name, nameAt }: Extract<Command, { kind: "mv_expand" }>,
): void {
  const value = compiler.column(name, nameAt);
  if (!value.multi) return;
  const { pipeline } = compiler;
  const ref = pipeline.expand(value.sql);
  pipeline.columns = pipeline.columns.map((column) =>
    column.name === name ? { ...column, multi: false, ref } : column,
  );
}
