/** Parses scripts into expressions. */
import { emptyRecord, lookupTable } from "@offhook/platform/base/lookup-table";

export type Expression =
  | { kind: "literal"; value: bigint | number | boolean | string | null }
  | { kind: "param"; name: string }
  | { kind: "unary"; operator: "-" | "+" | "!"; operand: Expression }
  | { kind: "binary"; operator: string; left: Expression; right: Expression }
  | { kind: "choice"; condition: Expression; yes: Expression; no: Expression }
  | { kind: "elvis"; left: Expression; right: Expression }
  | { kind: "call"; function: (args: readonly number[]) => number; arguments: Expression[] }
  | { kind: "cast"; type: "double" | "long"; operand: Expression };

const MAX_LENGTH = 65_535;
const MAX_DEPTH = 100;

const math = emptyRecord<{ count: number; apply: (args: readonly number[]) => number }>();
for (const name of [
  "abs",
  "sqrt",
  "cbrt",
  "floor",
  "ceil",
  "exp",
  "log",
  "log10",
  "sin",
  "cos",
  "tan",
  "signum",
] as const) {
  const one = name === "signum" ? Math.sign : Math[name];
  math[name] = { count: 1, apply: ([value = Number.NaN]) => one(value) };
}
math.round = { count: 1, apply: ([value = Number.NaN]) => Math.floor(value + 0.5) };
math.max = { count: 2, apply: ([a = Number.NaN, b = Number.NaN]) => Math.max(a, b) };
math.min = { count: 2, apply: ([a = Number.NaN, b = Number.NaN]) => Math.min(a, b) };
math.pow = { count: 2, apply: ([a = Number.NaN, b = Number.NaN]) => a ** b };

const constants = lookupTable<number>({ PI: Math.PI, E: Math.E });

/** Operator precedence. */
const precedence = lookupTable<number>({
  "||": 1,
  "&&": 2,
  "==": 3,
  "!=": 3,
  "===": 3,
  "!==": 3,
  "<": 4,
  "<=": 4,
  ">": 4,
  ">=": 4,
  "+": 5,
  "-": 5,
  "*": 6,
  "/": 6,
  "%": 6,
});

interface Token {
  kind: "number" | "name" | "string" | "sign" | "end";
  text: string;
}

/** @param fail throws the error for unsupported syntax */
export function parseScript(source: string, lang: string, fail: (reason: string) => never): Expression {
  if (source.length > MAX_LENGTH) return fail(`exceeded max allowed script size in bytes [${MAX_LENGTH}]`);
  if (lang !== "painless" && lang !== "expression") return fail(`script_lang not supported [${lang}]`);
  return new ScriptParser(tokenize(source, fail), lang, fail).script();
}

function tokenize(source: string, fail: (reason: string) => never): Token[] {
  const pattern =
    /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[lLfFdD]?)|([A-Za-z_]\w*)|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(===|!==|==|!=|<=|>=|&&|\|\||\?:|\?\.|[-+*/%<>!?:()[\].,;{}=])/y;
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (!match) return fail(`unexpected character [${source[at]}].`);
    at = pattern.lastIndex;
    const [, number, name, string, sign] = match;
    if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (name !== undefined) tokens.push({ kind: "name", text: name });
    else if (string !== undefined)
      tokens.push({ kind: "string", text: string.slice(1, -1).replaceAll(/\\(.)/g, "$1") });
    else if (sign !== undefined) tokens.push({ kind: "sign", text: sign });
  }
  return tokens;
}

const end: Token = { kind: "end", text: "end of script" };

class ScriptParser {
  readonly #tokens: readonly Token[];
  readonly #lang: string;
  readonly #fail: (reason: string) => never;
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], lang: string, fail: (reason: string) => never) {
    this.#tokens = tokens;
    this.#lang = lang;
    this.#fail = fail;
  }

  script(): Expression {
    if (this.#is("name", "return")) this.#at++;
    const expression = this.#expression();
    while (this.#take(";"));
    if (this.#token !== end) this.#unexpected();
    return expression;
  }

  get #token(): Token {
    return this.#tokens[this.#at] ?? end;
  }

  #is(kind: Token["kind"], text: string): boolean {
    return this.#token.kind === kind && this.#token.text === text;
  }

  #take(sign: string): boolean {
    if (!this.#is("sign", sign)) return false;
    this.#at++;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) this.#unexpected();
  }

  #unexpected(): never {
    return this.#fail(
      `unexpected token ['${this.#token.text}']: only arithmetic, comparisons, [params], [Math] and [?:] are supported`,
    );
  }

  #expression(): Expression {
    if (++this.#depth > MAX_DEPTH) this.#fail("the script is nested too deeply");
    const condition = this.#operators(0);
    let result = condition;
    if (this.#take("?:")) {
      result = { kind: "elvis", left: condition, right: this.#expression() };
    } else if (this.#take("?")) {
      const yes = this.#expression();
      this.#expect(":");
      result = { kind: "choice", condition, yes, no: this.#expression() };
    }
    this.#depth--;
    return result;
  }

  #operators(least: number): Expression {
    let left = this.#unary();
    for (;;) {
      const operator = this.#token.text;
      const binds = this.#token.kind === "sign" ? (precedence[operator] ?? 0) : 0;
      if (binds <= least) return left;
      this.#at++;
      left = { kind: "binary", operator: operator.slice(0, 2), left, right: this.#operators(binds) };
    }
  }

  #unary(): Expression {
    if (++this.#depth > MAX_DEPTH) this.#fail("the script is nested too deeply");
    const operator = (["-", "+", "!"] as const).find((sign) => this.#take(sign));
    const result: Expression = operator
      ? { kind: "unary", operator, operand: this.#unary() }
      : (this.#cast() ?? this.#primary());
    this.#depth--;
    return result;
  }

  #cast(): Expression | undefined {
    const [open, type, close] = this.#tokens.slice(this.#at, this.#at + 3);
    if (open?.text !== "(" || type?.kind !== "name" || close?.text !== ")") return undefined;
    if (!/^(?:double|float|int|long|def)$/.test(type.text)) return undefined;
    this.#at += 3;
    const operand = this.#unary();
    if (type.text === "def") return operand;
    return { kind: "cast", type: /^(?:int|long)$/.test(type.text) ? "long" : "double", operand };
  }

  #primary(): Expression {
    const token = this.#token;
    if (token.kind === "number") {
      this.#at++;
      return { kind: "literal", value: numberOf(token.text) };
    }
    if (token.kind === "string") {
      this.#at++;
      return { kind: "literal", value: token.text };
    }
    if (token.kind === "name") return this.#name(token.text);
    this.#expect("(");
    const inner = this.#expression();
    this.#expect(")");
    return inner;
  }

  #name(name: string): Expression {
    this.#at++;
    if (name === "true" || name === "false") return { kind: "literal", value: name === "true" };
    if (name === "null") return { kind: "literal", value: null };
    if (name === "params") return this.#param();
    if (name === "Math" && this.#lang === "painless") return this.#math();
    if (this.#lang === "expression") {
      if (this.#is("sign", "(")) return this.#call(name);
      return { kind: "param", name };
    }
    return this.#fail(`cannot resolve symbol [${name}]`);
  }

  #param(): Expression {
    if (this.#take("[")) {
      const { kind, text } = this.#token;
      if (kind !== "string") this.#unexpected();
      this.#at++;
      this.#expect("]");
      return { kind: "param", name: text };
    }
    if (!this.#take("?.")) this.#expect(".");
    const { kind, text } = this.#token;
    if (kind !== "name") this.#unexpected();
    this.#at++;
    if (this.#is("sign", ".") || this.#is("sign", "(")) this.#unexpected();
    return { kind: "param", name: text };
  }

  #math(): Expression {
    this.#expect(".");
    const { kind, text } = this.#token;
    if (kind !== "name") this.#unexpected();
    this.#at++;
    const constant = constants[text];
    if (constant !== undefined && !this.#is("sign", "(")) return { kind: "literal", value: constant };
    return this.#call(text);
  }

  #call(name: string): Expression {
    const known = Object.hasOwn(math, name) ? math[name] : undefined;
    this.#expect("(");
    const args: Expression[] = [];
    if (!this.#take(")")) {
      do args.push(this.#expression());
      while (this.#take(","));
      this.#expect(")");
    }
    if (!known || known.count !== args.length) {
      return this.#fail(`static method [java.lang.Math, ${name}/${args.length}] not found`);
    }
    return { kind: "call", function: known.apply, arguments: args };
  }
}

function numberOf(text: string): bigint | number {
  if (/^\d+[lL]?$/.test(text)) return BigInt(text.replace(/[lL]$/, ""));
  return Number(text.replace(/[fFdDlL]$/, ""));
}
