/** ES|QL: pipelines of every command and function. */

import { keywordField, numberField, textField } from "@offhook/platform/testing/fuzz/fields";
import { hostileString, list, maybe, option, text, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";

const column = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(keywordField, numberField, textField, fc.constant("@timestamp")) },
  { weight: 2, arbitrary: fc.oneof(words("x y n nope service.name.keyword"), fc.constant("`a b`")) },
);
const literal = fc.oneof(
  words(
    '1 0 -1 2.5 1e308 9223372036854775807 9223372036854775808 true false null "x" "" "2026-01-30T09:00:00Z"',
  ),
  fc.constantFrom(
    "1 day",
    "4 years",
    "2 hours",
    '["a", "b"]',
    "[1, 2]",
    '"""raw "x" """',
    '"10.0.0.1"',
    '"%{WORD:w} %{NUMBER:n:int}"',
  ),
  hostileString.map((value) => JSON.stringify(value)),
);
const scalar = words(
  "ABS ACOS ASIN ATAN ATAN2 CASE CBRT CEIL CIDR_MATCH COALESCE CONCAT COS COSH DATE_DIFF DATE_EXTRACT DATE_FORMAT DATE_PARSE DATE_TRUNC E ENDS_WITH FLOOR FROM_BASE64 GREATEST IP_PREFIX LEAST LEFT LENGTH LOCATE LOG LOG10 LTRIM MV_APPEND MV_AVG MV_CONCAT MV_COUNT MV_DEDUPE MV_FIRST MV_LAST MV_MAX MV_MEDIAN MV_MIN MV_SLICE MV_SORT MV_SUM MV_ZIP NOW PI POW REPEAT REPLACE RIGHT ROUND RTRIM SIGNUM SIN SINH SPLIT SQRT STARTS_WITH SUBSTRING TAN TANH TAU TO_BASE64 TO_BOOLEAN TO_DATETIME TO_DEGREES TO_DOUBLE TO_INTEGER TO_IP TO_LONG TO_LOWER TO_RADIANS TO_STRING TO_UNSIGNED_LONG TO_UPPER TO_VERSION TRIM BUCKET NOPE ST_DISTANCE",
);
const aggregate = words(
  "AVG COUNT COUNT_DISTINCT MAX MEDIAN MEDIAN_ABSOLUTE_DEVIATION MIN PERCENTILE SUM TOP VALUES WEIGHTED_AVG",
);
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: column },
    { weight: 3, arbitrary: literal },
    { weight: 4, arbitrary: text`${scalar}(${list(tie("expression"), ", ", { min: 0, max: 4 })})` },
    {
      weight: 3,
      arbitrary: text`${tie("expression")} ${words("+ - * / % == != < <= > >= and or")} ${tie("expression")}`,
    },
    { weight: 1, arbitrary: text`${words("- NOT")} ${tie("expression")}` },
    { weight: 1, arbitrary: text`(${tie("expression")})` },
    { weight: 1, arbitrary: text`${tie("expression")} ${words("LIKE RLIKE")} ${literal}` },
    {
      weight: 1,
      arbitrary: text`${tie("expression")} ${words("IN NOT_IN")} (${list(tie("expression"), ", ")})`.map(
        (one) => one.replace("NOT_IN", "NOT IN"),
      ),
    },
    {
      weight: 1,
      arbitrary: text`${tie("expression")} IS ${words("NULL NOT_NULL")}`.map((one) => one.replace("_", " ")),
    },
    {
      weight: 1,
      arbitrary: text`${tie("expression")}::${words("long int string datetime ip nope version double")}`,
    },
  ),
}));
/** `1 day`, sums of spans, and what no unit is. */
const span = fc.oneof(
  {
    weight: 6,
    arbitrary: text`${words("0 1 -1 2 7 12 30 100000")} ${words("ms second minutes h hours d day weeks w month months mo quarter q year years yr")}`,
  },
  {
    weight: 1,
    arbitrary: text`${words("1 9999999999 9223372036854775808")} ${words("fortnight days x ms years")}`,
  },
);
const { spans } = fc.letrec<{ spans: string }>((tie) => ({
  spans: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: span },
    { weight: 3, arbitrary: text`${tie("spans")} ${words("+ -")} ${tie("spans")}` },
    { weight: 1, arbitrary: text`(${tie("spans")})` },
    { weight: 1, arbitrary: text`-(${tie("spans")})` },
    { weight: 1, arbitrary: text`${tie("spans")} + null` },
  ),
}));
const numbers =
  "1 -1 +2 0 2.5 -0.5 1e3 5000000000 -9223372036854775808 9223372036854775808 18446744073709551615";
const listLiteral = fc.oneof(
  { weight: 4, arbitrary: text`[${list(words(numbers), ", ", { max: 5 })}]` },
  { weight: 2, arbitrary: text`[${list(words('"a" "b" "k=v" "1 x" ""'), ", ", { max: 5 })}]` },
  { weight: 1, arbitrary: text`[${list(words("true false"), ", ")}]` },
  { weight: 1, arbitrary: text`[${list(words('1 "a" true null 1.5'), ", ")}]` },
);
/** Text known before any row is read: what patterns, units and bounds are computed from. */
const constantText = fc.oneof(
  words('"yyyy" "yyyy-MM-dd" "day" "year" "desc" "asc" "[a-z]+" "10.0.0.0/8" "x" null'),
  text`CONCAT(${words('"yyyy" "da" "de" null')}, ${words('"y" "-MM" "sc" "s"')})`,
  text`TO_LOWER(${words('"DAY" "YEAR" "DESC"')})`,
  text`SUBSTRING("xdays", ${words("0 1 2 -3")})`,
);
const moment = fc.oneof(
  words('@timestamp NOW() "2026-01-30" "2026-01-30T09:00:00Z"::date null'),
  text`@timestamp ${words("+ -")} ${spans}`,
  text`${spans} + @timestamp`,
  text`DATE_TRUNC(${spans}, @timestamp)`,
  text`DATE_PARSE(${constantText}, ${keywordField})`,
);
const { amount } = fc.letrec<{ amount: string }>((tie) => ({
  amount: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: numberField },
    { weight: 2, arbitrary: words(numbers) },
    { weight: 1, arbitrary: listLiteral },
    { weight: 3, arbitrary: text`(${tie("amount")} ${words("+ - * / %")} ${tie("amount")})` },
    {
      weight: 3,
      arbitrary: text`${words("ABS ROUND SQRT LOG LOG10 TO_INTEGER TO_LONG TO_UNSIGNED_LONG TO_DOUBLE MV_SUM MV_MAX MV_MEDIAN")}(${tie("amount")})`,
    },
    { weight: 1, arbitrary: text`${words("LOG POW ROUND ATAN2")}(${tie("amount")}, ${tie("amount")})` },
    { weight: 1, arbitrary: text`DATE_DIFF(${constantText}, ${moment}, ${moment})` },
    { weight: 1, arbitrary: text`DATE_EXTRACT(${constantText}, ${moment})` },
  ),
}));
const string = fc.oneof(
  keywordField,
  textField,
  constantText,
  text`${words("TO_UPPER TO_LOWER TRIM MV_MIN MV_MAX MV_FIRST")}(${fc.oneof(keywordField, textField)})`,
  text`${words("COALESCE CONCAT GREATEST MV_APPEND")}(${keywordField}, ${fc.oneof(textField, constantText)})`,
  text`CASE(${amount} > 1, ${textField}, ${constantText})`,
  text`REPLACE(${keywordField}, ${constantText}, ${constantText})`,
  text`DATE_FORMAT(${constantText}, ${moment})`,
);
/** Expressions whose types mostly fit. */
const fitting = fc.oneof(amount, moment, string, listLiteral);

const name = fc.oneof(
  { weight: 6, arbitrary: words("x y n g message") },
  { weight: 1, arbitrary: fc.constant("`a b`") },
);
const bucket = fc.oneof(
  text`BUCKET(${numberField}, ${words("2. 0.5 0. 2 -1.0 1e308")})`,
  text`BUCKET(${amount}, ${words("5 1 0 -1 2+2")}, ${amount}, ${words("0 100 null 10.5")})`,
  text`BUCKET(@timestamp, ${spans})`,
  text`BUCKET(@timestamp, ${words("1 10 100 0 2147483647")}, ${moment}, ${fc.oneof(moment, constantText)})`,
  text`ROUND(BUCKET(${numberField}, ${words("2. 10.")}))`,
);
const aggregated = fc.oneof(
  text`${aggregate}(${list(expression, ", ", { min: 0, max: 3 })})`,
  text`${name} = ${aggregate}(${expression})`,
  text`${aggregate}(${expression}) + ${expression}`,
  text`${name} = ${words("AVG SUM MIN MAX COUNT COUNT_DISTINCT MEDIAN VALUES MEDIAN_ABSOLUTE_DEVIATION")}(${fc.oneof(fitting, name, bucket, words("null *"))})`,
  text`${name} = PERCENTILE(${amount}, ${words("50 25+25 101 null n")})`,
  text`${name} = TOP(${fc.oneof(amount, moment)}, ${words("1 2+1 0 null")}, ${constantText})`,
  text`${name} = WEIGHTED_AVG(${amount}, ${amount})`,
  text`${name} = ${words("MAX SUM COUNT")}(${amount}) ${words("+ * -")} ${fc.oneof(name, bucket, amount)}`,
  bucket,
);
const group = fc.oneof(
  column,
  name,
  text`${name} = ${expression}`,
  text`${name} = ${fitting}`,
  text`BUCKET(${column}, ${literal}${maybe(text`, ${literal}, ${literal}`)})`,
  bucket,
  text`${name} = ${bucket}`,
);
const pattern = column.map((one) => one.replace(/(?<!\w)\w+$/, "*"));

const command = fc.oneof(
  text`WHERE ${expression}`,
  text`EVAL ${list(text`${name} = ${expression}`, ", ")}`,
  text`EVAL ${list(text`${name} = ${fitting}`, ", ")}`,
  text`WHERE ${fitting} ${words("== != < >= IN")} (${fitting})`,
  text`STATS ${list(aggregated, ", ")}${maybe(text` BY ${list(group, ", ")}`)}`,
  text`STATS ${list(aggregated, ", ")} BY ${list(group, ", ")}`,
  text`INLINESTATS ${aggregated}`,
  text`SORT ${list(text`${expression}${option("ASC DESC")}`, ", ")}`,
  text`LIMIT ${words("1 0 5 10000 -1 x 99999999999")}`,
  text`${words("KEEP DROP")} ${list(fc.oneof(column, pattern, fc.constant("*")), ", ")}`,
  text`RENAME ${list(text`${column} AS ${name}`, ", ")}`,
  text`${words("DISSECT GROK")} ${expression} ${literal}${maybe(fc.constant(' APPEND_SEPARATOR=","'))}`,
  text`DISSECT ${fc.oneof(string, name)} ${words('"%{x}=%{y}" "%{x}" "%{+x}=%{+x}" "%{?s}=%{n}" "%{*k}=%{&k}" "none"')}${maybe(fc.constant(' APPEND_SEPARATOR="-"'))}`,
  text`GROK ${fc.oneof(string, name)} ${fc.constantFrom('"%{WORD:x}"', '"%{NUMBER:n:int} %{WORD:y}"', '"%{WORD:x}=%{WORD:x}"', '"%{INT:x:int} %{WORD:x}"', '"%{NOPE:x}"')}`,
  text`MV_EXPAND ${fc.oneof(column, name)}`,
  text`ENRICH ${name} ON ${column}`,
  text`${hostileString}`,
);
const start = fc.oneof(
  {
    weight: 5,
    arbitrary: text`FROM ${words("logs logs* * hotline,logs nope -x")}${maybe(fc.constant(" METADATA _id, _index"))}`,
  },
  { weight: 2, arbitrary: text`ROW ${list(text`${name} = ${expression}`, ", ")}` },
  { weight: 2, arbitrary: text`ROW ${list(text`${name} = ${fc.oneof(fitting, listLiteral)}`, ", ")}` },
  { weight: 1, arbitrary: fc.constantFrom("SHOW INFO", "SHOW", "META functions") },
);

const wild = text`${start}${fc
  .array(command, { maxLength: 5 })
  .map((commands) => commands.map((one) => ` | ${one}`).join(""))}`;

/** Numbers, dates and strings that go together, so that most of these run. */
const soundNumber = fc.oneof(
  { weight: 4, arbitrary: numberField },
  { weight: 2, arbitrary: words("1 2 -3 2.5 5000000000 [1,2] [1,9223372036854775808] null") },
  { weight: 2, arbitrary: text`${numberField} ${words("+ - * / %")} ${words("1 2.5 0 event.duration")}` },
  { weight: 2, arbitrary: text`${words("LOG SQRT TO_INTEGER TO_LONG MV_SUM ROUND")}(${numberField})` },
  { weight: 1, arbitrary: text`DATE_DIFF(${words('"day" "hours" unit')}, @timestamp, NOW())` },
);
const soundSpan = words("1_day 2_weeks 3_hours 1_month 90_minutes").map((one) => one.replace("_", " "));
const soundDate = fc.oneof(
  fc.constantFrom("@timestamp", "NOW()", "@timestamp + null"),
  text`@timestamp ${words("+ -")} ${soundSpan}`,
  text`${words("4 2")} years + 3 months + @timestamp - (1 day + 2 weeks)`,
  text`DATE_TRUNC(${soundSpan}, @timestamp)`,
);
const soundText = fc.oneof(
  keywordField,
  text`${words("TO_UPPER TO_LOWER MV_MIN MV_MAX")}(${keywordField})`,
  text`CONCAT(${keywordField}, "-", ${textField})`,
  text`DATE_FORMAT(${fc.constantFrom('"yyyy"', 'CONCAT("yyyy", "-MM")', "LEFT(unit, 1)")}, ${soundDate})`,
  text`REPLACE(${textField}, CONCAT("[a-", "k]"), "")`,
);
const sound = fc.oneof(soundNumber, soundDate, soundText);
const soundBucket = fc.oneof(
  text`BUCKET(${numberField}, ${words("2. 50. 0.5")})`,
  text`BUCKET(${numberField}, 5 + 5, 0, ${words("100 1000.5")})`,
  text`BUCKET(@timestamp, ${soundSpan})`,
  text`BUCKET(@timestamp, ${words("1 20 100")}, ${fc.constantFrom("NOW() - 30 days", '"2026-01-01"', "lo")}, NOW())`,
);
const soundAggregate = fc.oneof(
  text`${words("SUM AVG MAX MIN MEDIAN COUNT")}(${soundNumber})`,
  text`${words("MAX MIN COUNT COUNT_DISTINCT VALUES")}(@timestamp)`,
  text`${words("COUNT COUNT_DISTINCT VALUES")}(${soundText})`,
  text`PERCENTILE(${numberField}, 25 * ${words("1 2 4")})`,
  text`TOP(${numberField}, ${words("1 3")}, CONCAT("a", "sc"))`,
  words("COUNT(*) SUM(null) AVG(null) AVG([1,2]) COUNT(g) VALUES(g)"),
);
const soundGroup = fc.oneof(sound, soundBucket, text`ROUND(${soundBucket})`);
const soundCommand = fc.oneof(
  text`EVAL ${list(text`${words("x y n")} = ${sound}`, ", ")}`,
  text`WHERE ${soundNumber} ${words("> < == !=")} ${soundNumber}`,
  text`WHERE ${soundDate} >= NOW() - ${soundSpan}`,
  text`SORT ${sound}${option("ASC DESC")}`,
  text`DISSECT ${fc.oneof(keywordField, textField)} "%{x} %{y}"`,
  text`GROK ${fc.oneof(keywordField, textField)} ${fc.constantFrom('"%{WORD:x}"', '"%{WORD:x} %{NUMBER:n:int}"')}`,
  text`MV_EXPAND ${keywordField}`,
  text`DROP ${words("x* *y tags")}`,
);
const soundStats = fc.oneof(
  text`STATS ${list(text`${words("x y n g")} = ${soundAggregate}`, ", ")}`,
  text`STATS ${list(text`${words("x y n g")} = ${soundAggregate}`, ", ")} BY g = ${soundGroup}${maybe(text`, ${words("g x")} = ${soundGroup}`)}`,
  text`STATS ${soundAggregate} + ${soundAggregate} BY ${soundGroup}`,
);
const fittingQuery = text`FROM logs | EVAL unit = "days", lo = NOW() - ${soundSpan}${fc
  .array(soundCommand, { maxLength: 2 })
  .map((commands) => commands.map((one) => ` | ${one}`).join(""))}${maybe(text` | ${soundStats}`)}`;

export const esql = fc.oneof({ weight: 1, arbitrary: wild }, { weight: 1, arbitrary: fittingQuery });
