import { expect, onTestFinished, test } from "vitest";
import { applyFormats, fieldFormat } from "../../../spl/eval/field-format.ts";
import { columnOf, fieldValue, project } from "../../../spl/relation/relation.ts";
import { relationOf } from "../../../spl/relation/rows.ts";
import { expressionBench } from "../../support/expressions.ts";
import { call, field, string } from "../../support/trees.ts";

test("a field with a format of its own is shown as the format says; its value is still a number", async () => {
  const bench = await expressionBench([]);
  onTestFinished(() => bench.close());
  const rows = relationOf({
    fields: [
      { name: "total", type: "number", multi: false },
      { name: "plain", type: "number", multi: false },
    ],
    rows: [
      [1234567, 1],
      [null, 2],
    ],
  });
  const format = fieldFormat(call("tostring", field("total"), string("commas")), bench.context);
  const marked = project(
    rows,
    rows.columns.map((column) => ({
      name: column.name,
      value: fieldValue(column),
      ...(column.name === "total" ? { format } : {}),
    })),
  );
  expect(columnOf(marked, "total")?.type).toBe("number");
  const shown = await applyFormats(marked);
  expect((await bench.context.run(shown, 10)).rows).toEqual([
    ["1,234,567", 1],
    ["Null", 2],
  ]);
  expect(await applyFormats(rows)).toBe(rows);
});
