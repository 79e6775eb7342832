/** Expressions of SPL's `eval` and `where`: mostly of arguments that their functions take, so that they are computed. */

import { hostileString, list, maybe, text, words } from "@offhook/platform/testing/fuzz/text";
import fc from "fast-check";

const quoted = fc.oneof(
  words('"checkout" "200" "" "a,b,c" "true" "1.50" "0x1f" "10.0.0.7" "2026-01-30T09:00:02" "%C3%BC"'),
  hostileString.map((value) => JSON.stringify(value.slice(0, 200))),
);
const json = fc.constantFrom(
  String.raw`"{\"a\":{\"b\":[1,\"x\",null]},\"c\":true}"`,
  String.raw`"[1,[2],\"3\",{\"a\":null}]"`,
  '"[]"',
  '"{"',
  "_raw",
  "nope",
);
const path = words('"a.b{}" "a.b{1}" "c" "{}" "" "a{}.b" "nope"');
const pattern = words('"c.*t" "^\\\\d+$" "(?<a>\\\\w+)-(\\\\d)" "(a+)+$" "[" "(?i)ERROR" "\\\\/"');
const format = words('"%Y-%m-%dT%H:%M:%S" "%s.%3N" "%F" "%+" "%j_%V_%Z" "%" "x"');
const modifier = words('"-1d@d" "@w1" "+3mon" "-5m@m+2s" "x" ""');
const digits = words("0 1 2 3 -1 20");
const base = words("2 8 10 16 36 1");

const anyFunction = words(
  "abs avg bit_and case ceiling cidrmatch coalesce commands exact if in ipmask isnull json_array json_extract json_object json_set len like log lookup match max md5 mvappend mvcount mvfilter mvfind mvindex mvjoin mvmap mvrange mvzip nullif printf relative_time replace round searchmatch spath split sqrt strftime strptime substr sum tobool tonumber tostring trim typeof validate nope",
);

/** One depth for all kinds: each would else go as deep as the others together. */
const nested = { depthIdentifier: "eval", depthSize: "small", withCrossShrink: true } as const;

interface Tree {
  number: string;
  string: string;
  truth: string;
  multi: string;
  value: string;
  wild: string;
}

const made = fc.letrec<Tree>((tie: fc.LetrecTypedTie<Tree>) => {
  const { number, string, truth, multi, value, wild } = {
    number: tie("number"),
    string: tie("string"),
    truth: tie("truth"),
    multi: tie("multi"),
    value: tie("value"),
    wild: tie("wild"),
  };
  const chosen = (one: fc.Arbitrary<string>) =>
    fc.oneof(
      text`if(${truth}, ${one}, ${one})`,
      text`case(${truth}, ${one}${maybe(text`, ${truth}, ${one}`)})`,
      text`validate(${truth}, ${one})`,
      text`coalesce(${list(one, ", ")})`,
      text`nullif(${one}, ${one})`,
      text`${words("min max")}(${list(one, ", ")})`,
    );
  return {
    number: fc.oneof(
      nested,
      {
        weight: 4,
        arbitrary: words("x n nope _time 'http.response.status_code' 'event.duration' date_hour"),
      },
      {
        weight: 3,
        arbitrary: words("0 1 -1 2.5 7 1e308 exp(1000) 0.1 1769763602 9007199254740993 now() time() pi()"),
      },
      { weight: 3, arbitrary: text`${number} ${words("+ - * / %")} ${number}` },
      {
        weight: 3,
        arbitrary: text`${words("abs ceiling floor exact exp ln sqrt sigfig acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh bit_not")}(${number})`,
      },
      {
        weight: 2,
        arbitrary: text`${words("pow hypot atan2 log bit_and bit_or bit_xor bit_shift_left bit_shift_right")}(${number}, ${number})`,
      },
      { weight: 1, arbitrary: text`round(${number}${maybe(text`, ${digits}`)})` },
      { weight: 1, arbitrary: text`${words("sum avg")}(${list(value, ", ")})` },
      { weight: 2, arbitrary: text`len(${string})` },
      { weight: 2, arbitrary: text`${words("tonumber toint todouble")}(${string}${maybe(text`, ${base}`)})` },
      { weight: 2, arbitrary: text`strptime(${string}, ${format})` },
      { weight: 1, arbitrary: text`relative_time(${number}, ${modifier})` },
      { weight: 1, arbitrary: text`mvcount(${multi})` },
      { weight: 1, arbitrary: text`mvfind(${multi}, ${pattern})` },
      { weight: 1, arbitrary: text`random() % ${words("2 0")}` },
      { weight: 2, arbitrary: chosen(number) },
    ),
    string: fc.oneof(
      nested,
      {
        weight: 4,
        arbitrary: words("host s nope sourcetype _raw 'service.name' message 'log.level' 'url.path' tags"),
      },
      { weight: 3, arbitrary: quoted },
      { weight: 2, arbitrary: text`${string} . ${value}` },
      { weight: 3, arbitrary: text`${words("lower upper urldecode md5 sha1 sha256 sha512")}(${string})` },
      { weight: 2, arbitrary: text`${words("trim ltrim rtrim")}(${string}${maybe(text`, ${quoted}`)})` },
      { weight: 2, arbitrary: text`substr(${string}, ${words("0 1 -3 99 x")}${maybe(text`, ${digits}`)})` },
      { weight: 2, arbitrary: text`replace(${string}, ${pattern}, ${words('"" "x" "\\\\1" "\\\\9" host')})` },
      { weight: 2, arbitrary: text`tostring(${value}${maybe(fc.constant(', "hex"'))})` },
      { weight: 1, arbitrary: text`tostring(${number}, ${words('"commas" "duration" "binary" "hex" "x"')})` },
      { weight: 2, arbitrary: text`strftime(${number}, ${format})` },
      {
        weight: 1,
        arbitrary: text`printf(${words('"%s" "%5.2f|%d" "%-8s%x" "%%" "%*d" "%n"')}, ${list(value, ", ")})`,
      },
      { weight: 1, arbitrary: text`mvjoin(${multi}, ${quoted})` },
      { weight: 1, arbitrary: text`ipmask("255.255.0.0", ${string})` },
      { weight: 1, arbitrary: text`typeof(${value})` },
      { weight: 2, arbitrary: text`spath(${json}, ${path})` },
      { weight: 2, arbitrary: text`json_extract(${json}${maybe(text`, ${list(path, ", ")}`)})` },
      { weight: 1, arbitrary: text`${words("json json_keys json_entries toarray toobject tomv")}(${json})` },
      { weight: 1, arbitrary: text`json_extract_exact(${json}, ${path})` },
      {
        weight: 2,
        arbitrary: text`${words("json_set json_set_exact json_append json_extend")}(${json}, ${path}, ${value})`,
      },
      { weight: 1, arbitrary: text`json_delete(${json}, ${path})` },
      { weight: 1, arbitrary: text`json_object(${quoted}, ${value})` },
      { weight: 1, arbitrary: text`json_array(${list(value, ", ")})` },
      { weight: 1, arbitrary: text`mv_to_json_array(${multi}${maybe(text`, ${words("true() false()")}`)})` },
      { weight: 1, arbitrary: text`lookup("hosts", json_object("host", ${string}), json_array("team"))` },
      { weight: 2, arbitrary: chosen(string) },
    ),
    truth: fc.oneof(
      nested,
      { weight: 2, arbitrary: words("true() false() isnull(nope) isnotnull(x)") },
      { weight: 3, arbitrary: text`${number} ${words("= == != < <= > >=")} ${number}` },
      { weight: 3, arbitrary: text`${string} ${words("= == != < <= > >=")} ${string}` },
      { weight: 2, arbitrary: text`${truth} ${words("AND OR XOR")} ${truth}` },
      { weight: 1, arbitrary: text`NOT (${truth})` },
      {
        weight: 2,
        arbitrary: text`${words("isnull isnotnull isnum isstr isint isdouble isbool ismv isarray isobject")}(${value})`,
      },
      { weight: 1, arbitrary: text`${string} LIKE ${words('"c%t" "_%" "%" ""')}` },
      { weight: 1, arbitrary: text`like(${string}, ${words('"c%t" "_" "\\\\%"')})` },
      { weight: 2, arbitrary: text`match(${string}, ${pattern})` },
      { weight: 1, arbitrary: text`cidrmatch(${words('"10.0.0.0/8" "x" "::/0"')}, ${string})` },
      { weight: 1, arbitrary: text`in(${value}, ${list(value, ", ")})` },
      { weight: 1, arbitrary: text`x IN (${list(value, ", ")})` },
      { weight: 1, arbitrary: text`json_valid(${json})` },
      { weight: 1, arbitrary: text`json_has_key_exact(${json}, ${path})` },
      { weight: 1, arbitrary: text`searchmatch(${words('"error" "host=c*" "x>1" "NOT"')})` },
      { weight: 1, arbitrary: text`tobool(${value})` },
    ),
    multi: fc.oneof(
      nested,
      { weight: 4, arbitrary: words("mv nope tags 'tags{}' host") },
      { weight: 3, arbitrary: text`split(${string}, ${words('"," "" "-"')})` },
      { weight: 2, arbitrary: text`mvappend(${list(fc.oneof(value, multi), ", ")})` },
      { weight: 2, arbitrary: text`${words("mvsort mvdedup mvreverse")}(${multi})` },
      {
        weight: 2,
        arbitrary: text`mvrange(${words("0 1 5 x")}, ${words("3 10 -1 n")}${maybe(words(',2 ,"1d" ,0'))})`,
      },
      { weight: 1, arbitrary: text`mvindex(${multi}, ${words("0 1 -1 9")}${maybe(words(",1 ,-1 ,99"))})` },
      { weight: 1, arbitrary: text`mvzip(${multi}, ${multi}${maybe(words(',"|"'))})` },
      { weight: 1, arbitrary: text`mvmap(mv, ${words("mv*2 mv.x upper(mv) if(mv>1,mv,null())")})` },
      { weight: 1, arbitrary: text`mvfilter(${words('match(mv,"a") mv>1 isnum(mv) mv!=nope')})` },
      { weight: 1, arbitrary: text`json_array_to_mv(${json}${maybe(words(",true() ,false()"))})` },
      {
        weight: 1,
        arbitrary: text`commands(${words('"search_a|stats_count" "x" ""').map((one) => one.replaceAll("_", " "))})`,
      },
      { weight: 1, arbitrary: chosen(multi) },
    ),
    value: fc.oneof(
      { weight: 3, arbitrary: number },
      { weight: 3, arbitrary: string },
      { weight: 1, arbitrary: multi },
      { weight: 1, arbitrary: fc.oneof(words("nope null() nope2"), chosen(words("nope nope2 null()"))) },
    ),
    wild: fc.oneof(
      nested,
      fc.oneof(number, string, truth, multi),
      text`${anyFunction}(${list(wild, ", ", { min: 0, max: 4 })})`,
      text`${wild} ${words("+ - * / % . = != < > AND OR XOR LIKE")} ${wild}`,
      text`(${wild})`,
    ),
  };
});

/** A condition, mostly a truth value. */
export const condition = fc.oneof({ weight: 12, arbitrary: made.truth }, { weight: 1, arbitrary: made.wild });
/** What a field can be set to, mostly. */
export const expression = fc.oneof(
  { weight: 12, arbitrary: made.value },
  { weight: 1, arbitrary: made.wild },
);
