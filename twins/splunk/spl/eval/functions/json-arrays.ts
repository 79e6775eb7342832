/** Multi-values as JSON arrays, and back. */
import { type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { fieldText, jsonText, readExactJson } from "../../json/exact-json.ts";
import type { Value } from "../value.ts";
import { listFromJson } from "./text.ts";
import { textList } from "./tools.ts";

const asJsonList = defineRowFunction("spl.mv_to_json_array", (list, infer) => {
  const values = list === null ? undefined : readExactJson(list);
  if (!Array.isArray(values)) return null;
  return jsonText(
    values.map((value) => {
      const known = infer === "1" && typeof value === "string" ? readExactJson(value) : undefined;
      return known ?? value;
    }),
  );
});

const fromJsonList = defineRowFunction("spl.json_array_to_mv", (json, quoted) => {
  const values = json === null ? undefined : readExactJson(json);
  if (!Array.isArray(values)) return null;
  const texts = values.flatMap((value) =>
    quoted === "1" && typeof value === "string" ? JSON.stringify(value) : (fieldText(value) ?? []),
  );
  return texts.length === 0 ? null : JSON.stringify(texts);
});

/** The JSON array of the values. @param infer `'1'`: values that are JSON themselves are embedded as such */
export function jsonArrayOf(value: Value, infer: Sql): Sql {
  return asJsonList(sql`CAST(to_json(${textList(value)}) AS VARCHAR)`, infer);
}

/** The items of a JSON array as a LIST of texts. @param quoted `'1'`: texts keep their quotes */
export function valuesOfJsonArray(json: Sql, quoted: Sql): Sql {
  return listFromJson(fromJsonList(json, quoted));
}
