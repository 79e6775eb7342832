/** Colours and line widths of a terminal. No colour without a terminal or with NO_COLOR (https://no-color.org). */
import { stripVTControlCharacters, styleText } from "node:util";

/** How to lay out a text. */
interface Layout {
  /** Prefix of each line. */
  indent?: string;
  /** Prefix of the first line instead, as wide as the indent. */
  head?: string;
  /** Style of the text; the head has its own. */
  style?: (text: string) => string;
}

export interface Terminal {
  line(text?: string): void;
  /** Prints a text, wrapped between words. */
  wrap(text: string, layout?: Layout): void;
  /** Prints a text on one line, truncated with an ellipsis. */
  cut(text: string, layout?: Layout): void;
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  caller(text: string): string;
  assistant(text: string): string;
  tool(text: string): string;
}

/** Narrower terminals are treated as this wide. */
const MIN_WIDTH = 20;
/** Length of truncated texts without a terminal. */
const MAX_CUT_LENGTH = 160;

type Style = Parameters<typeof styleText>[0];

export function terminalOf(
  stream: { write(text: string): unknown; isTTY?: boolean; columns?: number },
  env: Record<string, string | undefined> = process.env,
): Terminal {
  const coloured = (env.NO_COLOR ?? "") === "" && (stream.isTTY === true || (env.FORCE_COLOR ?? "") !== "");
  const style = (kind: Style) => (text: string) =>
    coloured ? styleText(kind, text, { validateStream: false }) : text;
  const line = (text = "") => void stream.write(`${text}\n`);
  const plain = (text: string) => text;
  /** Evaluated each time, because a terminal can be resized. */
  const roomAfter = (indent: string, otherwise: number) =>
    stream.isTTY === true && stream.columns ? Math.max(stream.columns - indent.length, MIN_WIDTH) : otherwise;
  return {
    line,
    wrap(text, { indent = "", head = indent, style: styled = plain } = {}) {
      const lines = wrapWords(text, roomAfter(indent, Number.POSITIVE_INFINITY));
      lines.forEach((part, index) => {
        line(`${index === 0 ? head : indent}${styled(part)}`);
      });
    },
    cut(text, { indent = "", head = indent, style: styled = plain } = {}) {
      line(`${head}${styled(cutText(text, roomAfter(indent, MAX_CUT_LENGTH)))}`);
    },
    bold: style("bold"),
    dim: style("dim"),
    good: style("green"),
    bad: style("red"),
    caller: style("cyan"),
    assistant: style("magenta"),
    tool: style("yellow"),
  };
}

/** Formats milliseconds for people: `1.2 s`. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Wraps a text between words into lines of at most `width` characters; a longer word gets its own line. */
function wrapWords(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let current = "";
  for (const word of text.split(" ")) {
    const longer = current === "" ? word : `${current} ${word}`;
    if (current !== "" && widthOf(longer) > width) {
      lines.push(current.trimEnd());
      current = word;
    } else {
      current = longer;
    }
  }
  return [...lines, current];
}

/** The visible width: control sequences take none. */
function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

function cutText(text: string, width: number): string {
  if (text.length <= width) return text;
  // Do not cut a surrogate pair in half.
  return `${text.slice(0, width - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
