import { expect, test } from "vitest";
import { describeStatement, readTraceComment } from "../statements/describe-statement.ts";

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("a trailing comment with a traceparent is taken off; another one stays", () => {
  const commented = `SELECT 1 /*application='shop',traceparent='${TRACEPARENT}'*/ `;
  expect(readTraceComment(commented)).toEqual({ text: "SELECT 1", traceparent: TRACEPARENT });
  for (const text of [
    "SELECT 1 /* why */",
    `SELECT '/*traceparent=''${TRACEPARENT}''*/'`,
    "*/",
    "SELECT 1",
  ]) {
    expect(readTraceComment(text)).toEqual({ text });
  }
});

test("a span has the statement without its literals, and the tables it names", () => {
  const { name, attributes } = describeStatement(
    "SELECT * FROM on_call JOIN engineers ON true WHERE service = 'checkout' AND id = $1 LIMIT 5",
    "shop",
  );
  expect(name).toBe("SELECT on_call engineers");
  expect(attributes).toMatchObject({
    "db.system.name": "postgresql",
    "db.namespace": "shop",
    "db.operation.name": "SELECT",
    "db.query.text": "SELECT * FROM on_call JOIN engineers ON true WHERE service = ? AND id = $1 LIMIT ?",
  });
  expect(attributes).not.toHaveProperty("db.collection.name");
  expect(describeStatement('update "incidents" set a = 1', "shop").attributes).toMatchObject({
    "db.collection.name": "incidents",
    "db.query.summary": "UPDATE incidents",
  });
});
