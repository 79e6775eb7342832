/** Colours and widths of a terminal. Colour only where one is, and never with NO_COLOR (https://no-color.org). */
import { stripVTControlCharacters, styleText } from "node:util";

/** How a text is set into the width of the terminal. */
interface Setting {
  /** What each line begins with. */
  indent?: string;
  /** What the first line begins with instead; as wide as the indent. */
  head?: string;
  /** Of the text; the head has its own. */
  style?: (text: string) => string;
}

export interface Terminal {
  line(text?: string): void;
  /** Prints a text in as many lines as it needs, broken between words. */
  wrap(text: string, setting?: Setting): void;
  /** Prints a text in one line, and of what does not fit an ellipsis. */
  cut(text: string, setting?: Setting): void;
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  caller(text: string): string;
  assistant(text: string): string;
  tool(text: string): string;
}

/** A terminal narrower than this is not fitted to. */
const MIN_WIDTH = 20;
/** Where no terminal is, what is cut has so many characters. */
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
  /** Asked each time: a terminal changes its size. */
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

/** Milliseconds as people read them: `1.2 s`. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Breaks a text between words into lines of at most so many characters; a longer word has a line of its own. */
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

/** What sets the style takes no place. */
function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

function cutText(text: string, width: number): string {
  if (text.length <= width) return text;
  // Never half of a surrogate pair.
  return `${text.slice(0, width - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
