import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { functionList } from "../../../spl/eval/functions/list.ts";
import { evalFunctions } from "../../../spl/eval/functions/registry.ts";
import { benchNowMs, type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench();
});
afterAll(() => bench.close());

const row = {
  n: 5.5,
  zero: 0,
  negative: -3,
  digits: "42",
  word: "Hello World",
  padded: "  x\t",
  mv: ["b", "a", "b"],
  nums: [3, 10, 2],
  mixed: ["10", "x", "9"],
  json: '{"a":{"b":[1,{"c":3}],"big":12345678901234567890},"t":"x","n":null,"yes":true}',
  _time: 1768467907.25,
};

/** What `eval v=<expression>` assigns; `null` when it assigns nothing. */
async function value(expression: string): Promise<ResultValue> {
  const { rows } = await bench.searchRows([row], `eval v=${expression}`);
  return rows[0]?.v ?? null;
}

async function failure(expression: string): Promise<string> {
  try {
    await bench.searchRows([row], `eval v=${expression}`);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error(`this did not fail: ${expression}`);
}

type Cases = [expression: string, expected: ResultValue][];

const hash = (algorithm: string) => createHash(algorithm).update("abc").digest("hex");

const families: Record<string, Cases> = {
  "comparison and conditional": [
    ['case(zero=1,"one", zero=0,"none")', "none"],
    ['if(cidrmatch("10.0.0.0/8","10.1.2.3"),"y","n")', "y"],
    ['if(cidrmatch("10.0.0.0/8","11.1.2.3"),"y","n")', "n"],
    ['if(cidrmatch("2001:db8::/32","2001:db8::1"),"y","n")', "y"],
    ['if(cidrmatch("10.0.0.0/8",word),"y","n")', "n"],
    ["coalesce(nowhere, digits, word)", "42"],
    ['if(in(word,"x","Hello World"),"y","n")', "y"],
    ['if(word IN ("x","y"),"y","n")', "n"],
    ['if(digits IN (41,42),"y","n")', "y"],
    ['if(like(word,"Hello%"),"y","n")', "y"],
    ['if(word LIKE "hello%","y","n")', "n"],
    ['if(like(word,"H_llo%"),"y","n")', "y"],
    ['if(match(word,"^H.*d$"),"y","n")', "y"],
    ['if(match(word,"(?i)WORLD"),"y","n")', "y"],
    ['if(match(word,"o(?= W)"),"y","n")', "y"],
    ['if(match(mv,"^a$"),"y","n")', "y"],
    ["nullif(digits,42)", null],
    ['nullif(word,"x")', "Hello World"],
    ['validate(1==2,"a",1==2,"b")', "a"],
    ['validate(1==1,"a")', null],
    ['if(true() AND NOT false(),"y","n")', "y"],
    ['if(1=1 XOR 2=2,"y","n")', "n"],
  ],
  conversion: [
    ['ipmask("255.255.255.0","10.20.30.120")', "10.20.30.0"],
    ['ipmask("0.255.0.244","10.20.30.120")', "0.20.0.112"],
    ['printf("%5.2f|%d|%s|%x|%%",n,digits,word,255)', " 5.50|42|Hello World|ff|%"],
    ['printf("%-5s|%05d|%+d|%e",digits,42,7,12345.678)', "42   |00042|+7|1.234568e+04"],
    ['printf("%\'d",1234567)', "1,234,567"],
    ['printf("%s",nowhere)', "Null"],
    ['printf("%*d",5,42)', "   42"],
    ['printf("%.3A",pi())', "0X1.922P+1"],
    ['printf("%a|%.1a",1.5,0)', "0x1.8p+0|0x0.0p+0"],
    ['printf("%c,%c",65,"Foo")', "A,F"],
    ['printf("%d,%i,%d",-2,+4,30)', "-2,4,30"],
    ['printf("%.2e",5139)', "5.14e+03"],
    ['printf("%.2g,%.2g",pi(),123)', "3.1,1.2e+02"],
    ['printf("%o|%#o",255,255)', "377|0377"],
    ['printf("%s%z", "foo", "bar")', "foobar"],
    ['printf("%x,%X,%p",10,10,10)', "a,A,A"],
    ['printf("100%%")', "100%"],
    ['printf("%-4d|%+4d|% -4d|%#x",1,1,1,1)', "1   |  +1| 1  |0x1"],
    ['printf("%.*f|%*.*e|%.f",1,1.23,9,2,pi(),2.6)', "1.2| 3.14e+00|3"],
    ['printf("%.3d|%.0d|%#g|%.2s",5,0,0.5,word)', "005||0.500000|He"],
    ['toarray(split("1, 2, 3", ","))', "[1,2,3]"],
    ['toarray("[\\"carrots\\", 1.00, \\"potatoes\\", 1.75]")', '["carrots",1,"potatoes",1.75]'],
    ["toarray(word)", null],
    ["toarray(n)", null],
    ['if(tobool("True"),"y","n").if(tobool("false"),"y","n").if(tobool(zero),"y","n")', "ynn"],
    ['if(isnull(tobool(word)),"null","known").if(tobool(n),"y","n").if(tobool(1=1),"y","n")', "nullyy"],
    ['todouble("16.00")', "16.0"],
    ["todouble(5)", "5.0"],
    ['todouble("ff",16)', "255.0"],
    ["todouble(word)", null],
    ['toint("24")', 24],
    ["toint(3.14)", 3],
    ["toint(-3.14)", -4],
    ['toint("101",2)', 5],
    ["toint(padded)", null],
    ["tomv(json_array(word,1))", ['"Hello World"', "1"]],
    ["tomv(mv)", ["b", "a", "b"]],
    ["tomv(word)", null],
    ['toobject("{\\"name\\": \\"maria\\", \\"age\\": 25.0}")', '{"name":"maria","age":25}'],
    ["toobject(word)", null],
    ["tonumber(digits)", 42],
    ["mvreverse(mv)", ["b", "a", "b"]],
    ['mvreverse(split("1,2,3", ","))', ["3", "2", "1"]],
    ["mvreverse(word)", "Hello World"],
    ["mvmap(mvindex(nums,1,2), nums*n)", [55, 11]],
    ["mvmap(nums, round(nums/4,1))", ["0.8", "2.5", "0.5"]],
    ["mvindex(mv,-4,0)", null],
    ["mvindex(mv,1,9)", ["a", "b"]],
    ['tonumber(" 42")', null],
    ["tonumber(word)", null],
    ['tonumber("0A4",16)', 164],
    ['tonumber("0xff",16)', 255],
    ['tonumber("102",2)', null],
    ["tostring(1==1)", "True"],
    ["tostring(1==2)", "False"],
    ["tostring(nowhere)", "Null"],
    ["tostring(n)", "5.5"],
    ['tostring(15,"hex")', "0xF"],
    ['tostring(12345.6789,"commas")', "12,345.68"],
    ['tostring(1234567,"commas")', "1,234,567"],
    ['tostring(615,"duration")', "00:10:15"],
    ['tostring(90061,"duration")', "1+01:01:01"],
  ],
  cryptographic: ["md5", "sha1", "sha256", "sha512"].map((name) => [`${name}("abc")`, hash(name)]),
  "rule 28: date and time": [
    ["now()", benchNowMs / 1000],
    ["time()", benchNowMs / 1000],
    ['relative_time(now(),"-1d@d")', Date.UTC(2026, 0, 14) / 1000],
    ['relative_time(_time,"@h")', Date.UTC(2026, 0, 15, 9) / 1000],
    ['relative_time(_time,"nonsense")', null],
    ['strftime(_time,"%F %T.%3N")', "2026-01-15 09:05:07.250"],
    ["strftime(_time,word)", "Hello World"],
    ['strptime("Mon Aug 13 00:00:00 2018","%a %B %d %H:%M:%S.%N %Y").""', "1534118400.000000"],
    ['strptime("2022/07/23 17:19:01.89","%Y/%m/%d %H:%M:%S.%N").""', "1658596741.890000"],
    ['strptime("2022-9-25T09:45:22.000","%Y-%m-%dT%H:%M:%S.%Q")', 1664099122],
    ['strptime("2022-09","%Y-%m")', null],
    ['strftime(_time,"%Ez|%f|%Q|%6Q|%N|%:::z|%V|%k|%e")', "0|250000|250|250000|250000000|+00|03| 9|15"],
    ['relative_time(now(),"-1d@d").""', "1768348800.000000"],
    ['relative_time(1768478400,"@w0").relative_time(1768478400,"@w7")', "1768089600.0000001768089600.000000"],
    ['relative_time(1768478400,"-2w@w5+3h")', 1766718000],
    ['relative_time(1768478400,"-1qtr@qtr")', 1759276800],
    ['relative_time(1768478400,"+1mon@y")', 1767225600],
    ['strptime("2026-01-15 09:05:07","%Y-%m-%d %H:%M:%S")', 1768467907],
    ['strptime(word,"%Y")', null],
    ['if(strftime(_time,"%H")>8,"y","n")', "y"],
  ],
  bitwise: [
    ['bit_and(12,9)." ".bit_and(15,7,digits)', "8 2"],
    ['bit_or(12,9)." ".bit_or(1,2,4)', "13 7"],
    ['bit_xor(12,9)." ".bit_xor(1,3,7)', "5 5"],
    ["bit_not(7,15)", 8],
    ["bit_not(0)", Number.MAX_SAFE_INTEGER],
    ['bit_shift_left(6,2)." ".bit_shift_left(1,53)." ".bit_shift_left(3,52)', "24 0 4503599627370496"],
    ['bit_shift_right(9,2)." ".bit_shift_right(9,60)', "2 0"],
    ["bit_and(negative,1)", null],
    ["bit_or(n,1)", null],
    ["bit_shift_left(1,nowhere)", null],
  ],
  informational: [
    [
      'if(isarray("[1, 2]"),"y","n").if(isarray(json),"y","n").if(isarray(1),"y","n").if(isarray(word),"y","n")',
      "ynnn",
    ],
    ['if(isobject(json),"y","n").if(isobject("[1]"),"y","n").if(isobject(nowhere),"y","n")', "ynn"],
    ['if(isdouble(n),"y","n").if(isdouble(digits),"y","n").if(isdouble(word),"y","n")', "ynn"],
    [
      'if(ismv(mv),"y","n").if(ismv(word),"y","n").if(ismv(mvindex(mv,0)),"y","n").if(ismv(split("a",",")),"y","n")',
      "ynnn",
    ],
    ['if(isbool(1=1),"y","n")', "y"],
    ['if(isint(digits),"y","n").if(isint(n),"y","n")', "yn"],
    ['if(isnum(digits),"y","n").if(isnum(word),"y","n").if(isnum("5"),"y","n")', "ynn"],
    ['if(isstr(word),"y","n").if(isstr(digits),"y","n").if(isstr(n),"y","n")', "ynn"],
    ['if(isnull(nowhere),"y","n").if(isnotnull(word),"y","n")', "yy"],
    ['typeof(12).typeof("string").typeof(1==2).typeof(badfield)', "NumberStringBooleanInvalid"],
    ["typeof(digits).typeof(word).typeof(null())", "NumberStringInvalid"],
  ],
  JSON: [
    [
      'json_object("a",1,"b","x","c",json_array(1,"2",n),"d",null())',
      '{"a":1,"b":"x","c":[1,"2",5.5],"d":null}',
    ],
    [
      'json_object("mv",mv,"nums",nums,"w",word,"d",digits)',
      '{"mv":["b","a","b"],"nums":[3,10,2],"w":"Hello World","d":42}',
    ],
    ["json_array()", "[]"],
    ['json_extract(json,"a.b{1}.c")', "3"],
    ['json_extract(json,"a.b{}")', '[1,{"c":3}]'],
    ['json_extract(json,"a.b{}.c")', "[3]"],
    ['json_extract(json,"a.big")', "12345678901234567890"],
    ['json_extract(json,"t","yes","zz")', '["x",true,null]'],
    ['json_extract(json,"zz")', null],
    ['json_extract(word,"a")', null],
    ['json_extract_exact("{\\"a.b\\":7}","a.b")', "7"],
    ["json_keys(json)", '["a","t","n","yes"]'],
    ['json_set("{\\"a\\":{\\"b\\":1}}","a.b",2,"a.c","x")', '{"a":{"b":2,"c":"x"}}'],
    ['json_set("{\\"a\\":[1,2]}","a{0}",json_object("k",1))', '{"a":[{"k":1},2]}'],
    ['json_append("{\\"a\\":[1]}","a",json_array(2,3))', '{"a":[1,[2,3]]}'],
    ['json_extend("{\\"a\\":[1]}","a",json_array(2,3))', '{"a":[1,2,3]}'],
    ['json_delete("{\\"a\\":1,\\"b\\":2}","a")', '{"b":2}'],
    ['json_array_to_mv("[1,\\"x\\",{\\"a\\":1}]")', ["1", "x", '{"a":1}']],
    ["mv_to_json_array(mixed)", '["10","x","9"]'],
    ["mv_to_json_array(mixed,true())", '[10,"x",9]'],
    ['if(json_valid(json),"y","n").if(json_valid(word),"y","n")', "yn"],
    ['json("[1, 2]")', "[1,2]"],
    ["json(word)", null],
    ['json_set_exact("{}","a.b",1)', '{"a.b":1}'],
    ['json_entries("{\\"a\\":1}")', '[{"key":"a","value":1}]'],
    ['if(json_has_key_exact(json,"t"),"y","n")', "y"],
  ],
  "rule 26: mathematical": [
    ["abs(negative)", 3],
    ["ceiling(n)", 6],
    ["ceil(n)", 6],
    ["floor(n)", 5],
    ["exact(3.14*n)", 3.14 * 5.5],
    ["round(exp(2),3)", 7.389],
    ["ln(0)", null],
    ["sqrt(-1)", null],
    ["sqrt(9)", 3],
    ["log(100)", 2],
    ["round(log(8,2),10)", 3],
    ["round(pi(),2)", 3.14],
    ["pow(2,10)", 1024],
    ["round(2.5)", 3],
    ["round(-2.5)", -3],
    ["round(3.14159,2)", 3.14],
    ["sigfig(1.00*1111)", 1110],
    ["sum(1,digits,nums,word)", 58],
    ["digits*2", 84],
    ["abs(nowhere)", null],
  ],
  "rule 29: multivalue": [
    ["mvappend(word,mv,nowhere,null())", ["Hello World", "b", "a", "b"]],
    ["mvcount(mv)", 3],
    ["mvcount(word)", 1],
    ["mvcount(nowhere)", null],
    ["mvdedup(mv)", ["b", "a"]],
    ['mvfilter(mv!="a")', ["b", "b"]],
    ['mvfilter(match(mixed,"\\d"))', ["10", "9"]],
    ['mvfilter(mv="zz")', null],
    ["mvfilter(nums>2)", [3, 10]],
    ['mvfind(mv,"^a$")', 1],
    ['mvfind(mv,"zz")', null],
    ["mvindex(mv,0)", "b"],
    ["mvindex(mv,-2)", "a"],
    ["mvindex(mv,9)", null],
    ["mvindex(mv,1,2)", ["a", "b"]],
    ["mvindex(mv,-2,-1)", ["a", "b"]],
    ["mvindex(mv,2,1)", null],
    ["mvindex(word,0)", "Hello World"],
    ['mvjoin(mv,"-")', "b-a-b"],
    ['mvjoin(word,"-")', "Hello World"],
    ["mvmap(nums,nums*10)", [30, 100, 20]],
    ['mvmap(mv,upper(mv).".".word)', ["B.Hello World", "A.Hello World", "B.Hello World"]],
    ['mvmap(word,word."!")', "Hello World!"],
    ["mvmap(mixed,if(isnum(mixed),mixed,null()))", ["10", "9"]],
    ["mvrange(1,11,2)", [1, 3, 5, 7, 9]],
    ["mvrange(1,4)", [1, 2, 3]],
    ['mvrange(0,172800,"1d")', [0, 86400]],
    ["mvsort(mixed)", ["10", "9", "x"]],
    ["mvzip(mv,nums)", ["b,3", "a,10", "b,2"]],
    ['mvzip(mv,nums,"|")', ["b|3", "a|10", "b|2"]],
    ['split("a;b;c",";")', ["a", "b", "c"]],
    ['split("abc","")', ["a", "b", "c"]],
    ['split("abc",";")', ["abc"]],
    ['commands("| stats count | head 1")', ["stats", "head"]],
  ],
  statistical: [
    ["avg(1,nums,word)", 4],
    ['max(1,"a",3)', "a"],
    ['min(3,"a")', "3"],
    ['min("10","9")', "10"],
    ["max(digits,9)", "42"],
    ["max(n,nums)", 10],
    ["min(mvzip(mvappend(mvmap(nowhere, nowhere*2)), nowhere))", null],
    ["max(mvmap(nowhere, nowhere.1), word)", "Hello World"],
    ["min(nowhere,3)", 3],
    ['max("abc",null())', "abc"],
    ['if(random()>=0 AND random()<2147483648,"y","n")', "y"],
  ],
  "rule 26: text": [
    ["len(word)", 11],
    ['len("é€")', 2],
    ["lower(word)", "hello world"],
    ["upper(mv)", ["B", "A", "B"]],
    ["ltrim(padded)", "x\t"],
    ["rtrim(padded)", "  x"],
    ["trim(padded)", "x"],
    ['trim("xxaxx","x")', "a"],
    ['replace(word,"(\\w+) (\\w+)","\\2 \\1")', "World Hello"],
    ['replace(word,"o(?=r)","0")', "Hello W0rld"],
    ['replace(mv,"b","c")', ["c", "a", "c"]],
    ['spath(json,"a.b{1}.c")', "3"],
    ['spath(json,"a.b{}")', ["1", '{"c":3}']],
    ['spath(word,"a")', null],
    ['substr("string",1,3)', "str"],
    ['substr("string",-3)', "ing"],
    ['substr("string",3)', "ring"],
    ['substr("string",2,-1)', ""],
    ['urldecode("a%20b%2Fc%C3%A9%zz")', "a b/cé%zz"],
  ],
  trigonometry: [
    ["round(acos(0),4)", 1.5708],
    ["acos(2)", null],
    ["round(asin(1),4)", 1.5708],
    ["round(atan(1),4)", 0.7854],
    ["round(atan2(1,-1),4)", 2.3562],
    ["cos(0)", 1],
    ["cosh(0)", 1],
    ["sin(0)", 0],
    ["sinh(0)", 0],
    ["tan(0)", 0],
    ["tanh(0)", 0],
    ["acosh(1)", 0],
    ["asinh(0)", 0],
    ["atanh(1)", null],
    ["hypot(3,4)", 5],
  ],
};

describe.each(Object.entries(families))("%s", (_, cases) => {
  test.each(cases)("%s", async (expression, expected) => {
    const found = await value(expression);
    if (typeof expected === "number") expect(found).toBeCloseTo(expected, 9);
    else expect(found).toEqual(expected);
  });
});

describe("rule 27: tostring and tonumber", () => {
  test("print booleans as words, and numbers as asked", async () => {
    expect(await value('tostring(1=1)." ".tostring(1234567.891,"commas")." ".tostring(255,"hex")')).toBe(
      "True 1,234,567.89 0xFF",
    );
    expect(await value("tonumber(word)")).toBeNull();
    expect(await failure('tonumber("seven")')).toContain(
      "The arguments to the 'tonumber' function are invalid.",
    );
  });
});

test("lookup gives what a table has for given values", async () => {
  const rows = {
    fields: ["status", "description"].map((name) => ({ name, type: "text" as const, multi: false })),
    rows: [
      ["404", "Not Found"],
      ["404", "Gone"],
      ["200", "OK"],
    ],
  };
  const lookups = await splBench([], {
    knowledge: { lookup: async (name) => (name === "codes" ? rows : undefined) },
  });
  try {
    const found = await lookups.searchRows(
      [{ status: 404 }, { status: 500 }],
      'eval v=lookup("codes", json_object("status",status), json_array("description"))',
    );
    expect(found.rows).toEqual([{ status: 404, v: '{"description":"Not Found"}' }, { status: 500 }]);
    const missing = lookups.searchRows(
      [{ a: 1 }],
      'eval v=lookup("none", json_object("a",a), json_array("b"))',
    );
    await expect(missing).rejects.toThrow("Could not construct lookup 'none'");
  } finally {
    await lookups.close();
  }
});

describe("the functions", () => {
  test("are listed as they are declared", () => {
    const file = new URL("../../../spl/eval/FUNCTIONS.md", import.meta.url);
    expect(readFileSync(file, "utf8")).toBe(functionList());
  });

  test("are all tried", () => {
    const tried = JSON.stringify(families);
    const elsewhere = ["lookup", "searchmatch"];
    const untried = evalFunctions.filter(
      ({ name }) => !elsewhere.includes(name) && !tried.includes(`${name}(`),
    );
    expect(untried.map(({ name }) => name)).toEqual([]);
  });
});

describe("arguments that do not fit", () => {
  test.each([
    ["upper(null())", "The arguments to the 'upper' function are invalid."],
    ["mvcount(null())", "The arguments to the 'mvcount' function are invalid."],
    ["len(123)", "The arguments to the 'len' function are invalid."],
    ["upper(1+1)", "The arguments to the 'upper' function are invalid."],
    ["md5(1)", "The arguments to the 'md5' function are invalid."],
    ['sqrt("x")', "The arguments to the 'sqrt' function are invalid."],
    ["sigfig(1.23456,3)", "The arguments to the 'sigfig' function are invalid."],
    ['sum(1, 2, "3")', "The arguments to the 'sum' function are invalid."],
    ['avg("somedata", 2)', "The arguments to the 'avg' function are invalid."],
    ["min()", "The arguments to the 'min' function are invalid."],
    ["mvfilter(true())", "The arguments to the 'mvfilter' function are invalid."],
    ["mvfilter(mv=word)", "The arguments to the 'mvfilter' function are invalid."],
    ["if(n,1,2)", "The arguments to the 'if' function are invalid."],
    ["case(n=1)", "The arguments to the 'case' function are invalid."],
    ['cidrmatch("nonsense","1.2.3.4")', "The arguments to the 'cidrmatch' function are invalid."],
    ['match(word,"(")', "Regex: missing closing parenthesis"],
    ["nosuchfunc(1)", "The 'nosuchfunc' function is unsupported or undefined."],
  ])("%s", async (expression, message) => {
    expect(await failure(expression)).toContain(`Error in 'EvalCommand': ${message}`);
  });
});
