import { expect, onTestFinished, test } from "vitest";
import { displayed } from "../../../spl/eval/displayed.ts";
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
  const display = call("tostring", field("total"), string("commas"));
  const marked = project(
    rows,
    rows.columns.map((column) => ({
      name: column.name,
      value: fieldValue(column),
      ...(column.name === "total" ? { display } : {}),
    })),
  );
  expect(columnOf(marked, "total")?.type).toBe("number");
  const shown = await displayed(marked, bench.context);
  expect((await bench.context.run(shown, 10)).rows).toEqual([
    ["1,234,567", 1],
    ["Null", 2],
  ]);
  expect(await displayed(rows, bench.context)).toBe(rows);
});
