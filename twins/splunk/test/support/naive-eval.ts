/** A naive evaluator of eval expressions, a row at a time: what the SQL is compared with. */
import type { Expression } from "../../spl/syntax/ast.ts";

type Single = string | number | boolean;
/** `undefined`: there is none. */
type NaiveValue = Single | Single[] | undefined;
type NaiveRow = Readonly<Record<string, string | number | readonly string[]>>;

/** What can be said of an expression's value before there is a row. */
interface Shape {
  type: "text" | "number" | "boolean";
  multi: boolean;
  /** Text from a field, which may be a number. */
  loose: boolean;
  /** Written in the search, or made by an operator. */
  certain: boolean;
}

export interface Evaluator {
  evaluate(expression: Expression, row: NaiveRow): NaiveValue;
}

/** @param fields what each field holds */
export function naiveEvaluator(fields: Readonly<Record<string, "text" | "number" | "list">>): Evaluator {
  return { evaluate: (expression, row) => evaluate(expression, row) };

  function shapeOf(expression: Expression): Shape {
    const plain = (type: Shape["type"], multi = false): Shape => ({
      type,
      multi,
      loose: false,
      certain: false,
    });
    switch (expression.node) {
      case "number":
        return { ...plain("number"), certain: true };
      case "string":
        return { ...plain("text"), certain: true };
      case "field": {
        const kind = fields[expression.name] ?? "text";
        return { ...plain(kind === "number" ? "number" : "text", kind === "list"), loose: kind !== "number" };
      }
      case "unary":
        return expression.operator === "not" ? plain("boolean") : { ...plain("number"), certain: true };
      case "binary":
        return binaryShape(expression);
      case "call":
        return callShape(expression.name, expression.args);
      default:
        return plain("boolean");
    }
  }

  function binaryShape({ operator, left, right }: Extract<Expression, { node: "binary" }>): Shape {
    if (operator === ".") return { type: "text", multi: false, loose: true, certain: true };
    if (operator === "+") {
      const sides = [shapeOf(left), shapeOf(right)];
      if (sides.some(({ certain, type }) => certain && type === "text"))
        return { type: "text", multi: false, loose: true, certain: true };
      if (sides.some(({ type, multi }) => type === "number" || multi))
        return { type: "number", multi: false, loose: false, certain: true };
      return { type: "text", multi: false, loose: sides.some(({ loose }) => loose), certain: false };
    }
    if (/^[-*/%]$/.test(operator)) return { type: "number", multi: false, loose: false, certain: true };
    return { type: "boolean", multi: false, loose: false, certain: false };
  }

  function callShape(name: string, args: readonly Expression[]): Shape {
    const first = args[0];
    const base: Shape = { type: "text", multi: false, loose: false, certain: false };
    switch (name) {
      case "if":
        return alike(args.slice(1));
      case "case":
        return alike(args.filter((_, index) => index % 2 === 1));
      case "coalesce":
        return alike(args);
      case "mvappend":
        return { ...alike(args), multi: true };
      case "abs":
      case "round":
      case "len":
      case "mvcount":
      case "tonumber":
        return { ...base, type: "number" };
      case "upper":
        return { ...base, multi: first !== undefined && shapeOf(first).multi };
      case "substr":
      case "replace":
      case "mvindex":
      case "mvdedup":
      case "mvfilter": {
        const shape = first === undefined ? base : shapeOf(first);
        const of = name === "mvfilter" ? { ...base, loose: true } : shape;
        return {
          ...base,
          type: of.type === "number" && name.startsWith("mv") ? "number" : "text",
          loose: of.loose,
          multi: name === "mvfilter" || (/^(mvdedup|replace)$/.test(name) && of.multi),
        };
      }
      case "mvsort":
      case "split":
        return { ...base, multi: true, loose: true };
      case "isnull":
      case "isnotnull":
      case "isnum":
      case "like":
      case "match":
        return { ...base, type: "boolean" };
      default:
        return base;
    }
  }

  /** A number with so many places is a text to all but numeric functions. */
  function settledShape(expression: Expression): Shape {
    const shape = shapeOf(expression);
    return isPlaced(expression) ? { ...shape, type: "text", loose: true } : shape;
  }

  function alike(expressions: readonly Expression[]): Shape {
    const shapes = expressions.map(settledShape);
    const type = shapes.every((shape) => shape.type === shapes[0]?.type)
      ? (shapes[0]?.type ?? "text")
      : "text";
    return {
      type,
      multi: shapes.some(({ multi }) => multi),
      loose: type === "text" && shapes.some((shape) => shape.loose || shape.type !== "text"),
      certain: false,
    };
  }

  function shaped(value: NaiveValue, shape: Shape): NaiveValue {
    if (value === undefined) return undefined;
    const list = (Array.isArray(value) ? value : [value]).map((one) =>
      shape.type === "text" ? textOf(one) : one,
    );
    return shape.multi ? list : list[0];
  }

  /** As texts and most functions see it: in no more digits than what it was computed from has. */
  function settled(expression: Expression, row: NaiveRow): NaiveValue {
    const value = evaluate(expression, row);
    if (typeof value !== "number") return value;
    if (isPlaced(expression)) return value.toFixed(placesOf(expression));
    if (expression.node !== "binary" && expression.node !== "unary" && expression.node !== "call")
      return value;
    const places = precisionOf(expression, row)?.places;
    return places === undefined ? value : roundedTo(value, places);
  }

  function precisionOf(expression: Expression, row: NaiveRow): Precision | undefined {
    switch (expression.node) {
      case "number":
        return digitsOf(expression.text);
      case "field": {
        const value = row[expression.name];
        return typeof value === "object" || value === undefined ? undefined : digitsOf(textOf(value));
      }
      case "unary":
        return precisionOf(expression.operand, row);
      case "call": {
        const [first] = expression.args;
        if (expression.name === "abs" && first !== undefined) return precisionOf(first, row);
        return isPlaced(expression) ? digitsOf(String(settled(expression, row))) : undefined;
      }
      case "binary":
        return resultPrecision(expression, row);
      default:
        return undefined;
    }
  }

  function resultPrecision(
    { operator, left, right, ...place }: Extract<Expression, { node: "binary" }>,
    row: NaiveRow,
  ): Precision | undefined {
    const known = [left, right].flatMap((side) => precisionOf(side, row) ?? []);
    const value = evaluate({ operator, left, right, ...place }, row);
    if (known.length === 0 || typeof value !== "number" || !/^[-+*/%]$/.test(operator)) return undefined;
    const power = value === 0 ? undefined : Math.floor(Math.log10(Math.abs(value)));
    if (operator === "*" || operator === "/") {
      const significant = Math.min(...known.map((one) => one.significant));
      return {
        significant,
        places: Math.max(significant - 1 - (power ?? significant - 1), 0),
      };
    }
    const places = Math.min(...known.map((one) => one.places));
    return { places, significant: Math.max(places + 1 + (power ?? 0), 1) };
  }

  function evaluate(expression: Expression, row: NaiveRow): NaiveValue {
    switch (expression.node) {
      case "number":
      case "string":
        return expression.value;
      case "field": {
        const value = row[expression.name];
        return typeof value === "object" ? [...value] : value;
      }
      case "unary": {
        const value = evaluate(expression.operand, row);
        if (expression.operator === "not") return value === undefined ? undefined : value !== true;
        const number = numberOf(value);
        return number === undefined ? undefined : -number;
      }
      case "binary":
        return binary(expression, row);
      case "in":
        return or(expression.values.map((value) => compare("=", expression.operand, value, row)));
      case "call":
        return call(expression.name, expression.args, row);
      case "subsearch":
        return undefined;
    }
  }

  function binary(
    { operator, left, right }: Extract<Expression, { node: "binary" }>,
    row: NaiveRow,
  ): NaiveValue {
    switch (operator) {
      case "and": {
        const values = [evaluate(left, row), evaluate(right, row)];
        if (values.includes(false)) return false;
        return values.includes(undefined) ? undefined : true;
      }
      case "or":
        return or([evaluate(left, row), evaluate(right, row)]);
      case "xor": {
        const [a, b] = [evaluate(left, row), evaluate(right, row)];
        return a === undefined || b === undefined ? undefined : a !== b;
      }
      case "like":
        return like(settled(left, row), settled(right, row));
      case ".":
        return joined(settled(left, row), settled(right, row));
      case "+":
        return plus(left, right, row);
      case "-":
      case "*":
      case "/":
      case "%": {
        const [a, b] = [numberOf(evaluate(left, row)), numberOf(evaluate(right, row))];
        if (a === undefined || b === undefined || (b === 0 && /[/%]/.test(operator))) return undefined;
        return operator === "-" ? a - b : operator === "*" ? a * b : operator === "/" ? a / b : a % b;
      }
      default:
        return compare(operator, left, right, row);
    }
  }

  function plus(left: Expression, right: Expression, row: NaiveRow): NaiveValue {
    const [a, b] = [evaluate(left, row), evaluate(right, row)];
    const sides = [shapeOf(left), shapeOf(right)];
    if (sides.some(({ certain, type }) => certain && type === "text")) {
      return joined(settled(left, row), settled(right, row));
    }
    const [x, y] = [numberOf(a), numberOf(b)];
    if (sides.some(({ type, multi }) => type === "number" || multi))
      return x === undefined || y === undefined ? undefined : x + y;
    if (a === undefined || b === undefined) return undefined;
    if (sides.every(({ loose }) => !loose)) return joined(a, b);
    if (x !== undefined && y !== undefined) {
      const known = [a, b].flatMap((one) => (typeof one === "string" ? (digitsOf(one) ?? []) : []));
      const sum =
        known.length === 0 ? x + y : roundedTo(x + y, Math.min(...known.map(({ places }) => places)));
      return textOf(sum);
    }
    return x === undefined && y === undefined ? joined(a, b) : undefined;
  }

  function compare(
    operator: string,
    left: Expression,
    right: Expression,
    row: NaiveRow,
  ): boolean | undefined {
    const [a, b] = [evaluate(left, row), evaluate(right, row)];
    if (a === undefined || b === undefined) return undefined;
    const strings = [shapeOf(left), shapeOf(right)].every(({ type, loose }) => type === "text" && !loose);
    const many = (value: Single | Single[]) => (Array.isArray(value) ? value : [value]);
    return many(a).some((x) => many(b).some((y) => compareOne(operator, x, y, strings)));
  }

  function call(name: string, args: readonly Expression[], row: NaiveRow): NaiveValue {
    const at = (index: number): NaiveValue => {
      const argument = args[index];
      if (argument === undefined) return undefined;
      return name === "abs" || name === "round" ? evaluate(argument, row) : settled(argument, row);
    };
    const text = (index: number): string | undefined => {
      const value = singleOf(at(index));
      return value === undefined ? undefined : textOf(value);
    };
    const first = at(0);
    switch (name) {
      case "if":
        return shaped(first === true ? at(1) : at(2), callShape(name, args));
      case "case": {
        const index = args.findIndex((_, place) => place % 2 === 0 && at(place) === true);
        return index === -1 ? undefined : shaped(at(index + 1), callShape(name, args));
      }
      case "coalesce":
        return shaped(
          args.map((_, index) => at(index)).find((value) => value !== undefined),
          callShape(name, args),
        );
      case "isnull":
        return first === undefined;
      case "isnotnull":
        return first !== undefined;
      case "isnum": {
        const shape = args[0] === undefined ? undefined : shapeOf(args[0]);
        return shape?.type === "number" || shape?.loose ? numberOf(first) !== undefined : false;
      }
      case "abs": {
        const number = numberOf(first);
        return number === undefined ? undefined : Math.abs(number);
      }
      case "round": {
        const [number, digits] = [numberOf(first), numberOf(at(1))];
        if (number === undefined || digits === undefined) return undefined;
        const size = Math.floor(Math.abs(number) * 10 ** digits + 0.5) / 10 ** digits;
        return number < 0 ? -size : size;
      }
      case "len":
        return text(0)?.length;
      case "tonumber":
        // A text with blanks at its ends is no number to it.
        return text(0) === text(0)?.trim() ? numberOf(first) : undefined;
      case "tostring":
        return first === undefined ? "Null" : textOf(singleOf(first) ?? "");
      case "upper":
        return eachText(first, (one) => one.toUpperCase());
      case "substr": {
        const [given, start, length] = [text(0), numberOf(at(1)), numberOf(at(2))];
        if (given === undefined || start === undefined || length === undefined) return undefined;
        return part(given, start, length);
      }
      case "replace":
        return eachText(first, (one) => one.replaceAll(text(1) ?? "", text(2) ?? ""));
      case "like":
        return like(first, at(1));
      case "match": {
        const [pattern] = [text(1) ?? ""];
        if (first === undefined) return undefined;
        return (Array.isArray(first) ? first : [first]).some((one) => new RegExp(pattern).test(textOf(one)));
      }
      case "mvcount":
        return first === undefined ? undefined : Array.isArray(first) ? first.length : 1;
      case "mvjoin":
        return Array.isArray(first) ? first.map(textOf).join(text(1)) : text(0);
      case "mvindex": {
        const index = numberOf(at(1)) ?? 0;
        const list = first === undefined ? [] : Array.isArray(first) ? first : [first];
        return list.at(index);
      }
      case "mvappend": {
        const all = args.flatMap((_, index) => shaped(at(index), callShape(name, args)) ?? []);
        return all.length === 0 ? undefined : all;
      }
      case "mvdedup":
        return Array.isArray(first) ? [...new Set(first)] : first;
      case "mvsort":
        return Array.isArray(first) ? first.map(textOf).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)) : first;
      case "split":
        return first === undefined
          ? undefined
          : (Array.isArray(first) ? first : [first]).flatMap((one) => textOf(one).split(text(1) ?? ""));
      case "mvfilter": {
        const [condition] = args;
        const list = row.m;
        if (condition === undefined || typeof list !== "object") return undefined;
        const kept = list.filter((one) => evaluateOne(condition, row, one) === true);
        return kept.length === 0 ? undefined : kept;
      }
      default:
        throw new Error(`the naive evaluator knows no ${name}`);
    }
  }

  /** With one value in the place of the multi-value `m`. */
  function evaluateOne(expression: Expression, row: NaiveRow, one: string): NaiveValue {
    return naiveEvaluator({ ...fields, m: "text" }).evaluate(expression, { ...row, m: one });
  }
}

interface Precision {
  significant: number;
  places: number;
}

/** Of a number as it is written; `undefined`: exact. */
function digitsOf(text: string): Precision | undefined {
  if (!text.includes(".") || /e/i.test(text) || text.length > 16) return undefined;
  const significant = text.replace(/[-+. ]/g, "").replace(/^0+/, "").length;
  return { significant, places: text.trimEnd().split(".")[1]?.length ?? 0 };
}

/** `round(x, 2)`: its places are always shown. */
function isPlaced(expression: Expression): boolean {
  return expression.node === "call" && expression.name === "round" && placesOf(expression) > 0;
}

function placesOf(expression: Expression): number {
  const digits = expression.node === "call" ? expression.args[1] : undefined;
  return digits?.node === "number" ? digits.value : 0;
}

function roundedTo(value: number, places: number): number {
  const size = Math.floor(Math.abs(value) * 10 ** places + 0.5) / 10 ** places;
  return value < 0 ? -size : size;
}

function textOf(value: Single): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return value;
  if (Number.isInteger(value)) return BigInt(value).toString();
  if (Math.abs(value) >= 1e-4) return String(value);
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

function numberOf(value: NaiveValue): number | undefined {
  const one = singleOf(value);
  if (typeof one === "number") return one;
  if (typeof one !== "string" || !/^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(one)) return undefined;
  return Number(one);
}

function singleOf(value: NaiveValue): Single | undefined {
  if (!Array.isArray(value)) return value;
  return value.length === 1 ? value[0] : undefined;
}

function eachText(value: NaiveValue, change: (text: string) => string): NaiveValue {
  if (Array.isArray(value)) return value.map((one) => change(textOf(one)));
  return value === undefined ? undefined : change(textOf(value));
}

function joined(left: NaiveValue, right: NaiveValue): string | undefined {
  const [a, b] = [singleOf(left), singleOf(right)];
  return a === undefined || b === undefined ? undefined : textOf(a) + textOf(b);
}

function or(values: readonly NaiveValue[]): boolean | undefined {
  if (values.includes(true)) return true;
  return values.includes(undefined) ? undefined : false;
}

function like(value: NaiveValue, pattern: NaiveValue): boolean | undefined {
  const form = singleOf(pattern);
  if (value === undefined || form === undefined) return undefined;
  const source = [...textOf(form)].map((char) => (char === "%" ? ".*" : char === "_" ? "." : char)).join("");
  return (Array.isArray(value) ? value : [value]).some((one) => new RegExp(`^${source}$`).test(textOf(one)));
}

function compareOne(operator: string, a: Single, b: Single, strings: boolean): boolean {
  const [x, y] = [numberOf(a), numberOf(b)];
  const numbers = !strings && x !== undefined && y !== undefined;
  const [left, right] = numbers ? [x, y] : [textOf(a), textOf(b)];
  const order = left < right ? -1 : left > right ? 1 : 0;
  switch (operator) {
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    default:
      return order >= 0;
  }
}

/** Positions count from 1, or from the end. */
function part(text: string, start: number, length: number): string {
  const from = start < 0 ? text.length + start : start - 1;
  return text.slice(Math.max(from, 0), Math.max(from + length, 0));
}
