/**
 * The vendor's built-in date formats as patterns. `~` stands for one to nine digits of a second's fraction and `@` for a zone or an
 * offset with or without a colon; Java's builder has both, its patterns do not.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/mapping-date-format.html
 */

export interface NamedFormat {
  print: string;
  parse: string;
  leniency: "strict" | "smart";
}

const optionalTime = "['T'[HH[:mm[:ss[.~][,~]]][@]]]";
const lenientTime = "['T'[H[:m[:s[.~][,~]]][@]]]";
const dates = {
  date: ["uuuu-MM-dd", "u-M-d"],
  ordinal_date: ["uuuu-DDD", "u-D"],
  week_date: ["YYYY-'W'ww-e", "Y-'W'w-e"],
} as const;

const formats = new Map<string, NamedFormat>();

function define(name: string, print: string, lenient?: string): void {
  formats.set(`strict_${name}`, { print, parse: print.replaceAll("XXX", "@"), leniency: "strict" });
  formats.set(name, { print, parse: (lenient ?? print).replaceAll("XXX", "@"), leniency: "strict" });
}

/** Defines a basic format. Only week dates have a strict variant. */
function defineBasic(name: string, print: string): void {
  const format: NamedFormat = {
    print,
    parse: print.replaceAll("XX", "@").replace("SSS", "~"),
    leniency: "strict",
  };
  formats.set(name, format);
  if (name.startsWith("basic_week_date")) formats.set(`strict_${name}`, format);
}

for (const [name, [strict, lenient]] of Object.entries(dates)) {
  const time = name === "date" ? "date" : name;
  define(name, strict, lenient);
  define(`${time}_time`, `${strict}'T'HH:mm:ss.SSSXXX`, `${lenient}'T'H:m:s.~XXX`);
  define(`${time}_time_no_millis`, `${strict}'T'HH:mm:ssXXX`, `${lenient}'T'H:m:sXXX`);
}
const [date, lenientDate] = dates.date;
define("hour", "HH", "H");
define("hour_minute", "HH:mm", "H:m");
define("hour_minute_second", "HH:mm:ss", "H:m:s");
define("hour_minute_second_millis", "HH:mm:ss.SSS", "H:m:s.~");
define("hour_minute_second_fraction", "HH:mm:ss.SSS", "H:m:s.~");
define("date_hour", `${date}'T'HH`, `${lenientDate}'T'H`);
define("date_hour_minute", `${date}'T'HH:mm`, `${lenientDate}'T'H:m`);
define("date_hour_minute_second", `${date}'T'HH:mm:ss`, `${lenientDate}'T'H:m:s`);
define("date_hour_minute_second_millis", `${date}'T'HH:mm:ss.SSS`, `${lenientDate}'T'H:m:s.~`);
define("date_hour_minute_second_fraction", `${date}'T'HH:mm:ss.SSS`, `${lenientDate}'T'H:m:s.~`);
define("time", "HH:mm:ss.SSSXXX", "H:m:s.~XXX");
define("time_no_millis", "HH:mm:ssXXX", "H:m:sXXX");
define("t_time", "'T'HH:mm:ss.SSSXXX", "'T'H:m:s.~XXX");
define("t_time_no_millis", "'T'HH:mm:ssXXX", "'T'H:m:sXXX");
define("weekyear", "YYYY", "Y");
define("weekyear_week", "YYYY-'W'ww", "Y-'W'w");
define("weekyear_week_day", "YYYY-'W'ww-e", "Y-'W'w-e");
define("year", "uuuu", "u");
define("year_month", "uuuu-MM", "u-M");
define("year_month_day", "uuuu-MM-dd", "u-M-d");

for (const [name, pattern] of [
  ["date", "uuuuMMdd"],
  ["ordinal_date", "uuuuDDD"],
  ["week_date", "YYYY'W'wwe"],
] as const) {
  defineBasic(`basic_${name}`, pattern);
  defineBasic(`basic_${name}_time`, `${pattern}'T'HHmmss.SSSXX`);
  defineBasic(`basic_${name}_time_no_millis`, `${pattern}'T'HHmmssXX`);
}
defineBasic("basic_time", "HHmmss.SSSXX");
defineBasic("basic_time_no_millis", "HHmmssXX");
defineBasic("basic_t_time", "'T'HHmmss.SSSXX");
defineBasic("basic_t_time_no_millis", "'T'HHmmssXX");

const printed = `${date}'T'HH:mm:ss.SSSXXX`;
const strictOptional: NamedFormat = {
  print: printed,
  parse: `uuuu[-MM[-dd${optionalTime}]]`,
  leniency: "strict",
};
for (const name of ["strict_date_optional_time", "strict_date_optional_time_nanos", "iso8601"]) {
  formats.set(name, strictOptional);
}
formats.set("date_optional_time", { print: printed, parse: `u[-M[-d${lenientTime}]]`, leniency: "strict" });

/** @returns undefined for a pattern */
export function namedFormat(name: string): NamedFormat | undefined {
  return formats.get(name);
}
