/** Colours and widths of a terminal. Colour only where one is, and never with NO_COLOR (https://no-color.org). */
import { styleText } from "node:util";

export interface Terminal {
  line(text?: string): void;
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  caller(text: string): string;
  assistant(text: string): string;
  tool(text: string): string;
}

type Style = Parameters<typeof styleText>[0];

export function terminalOf(
  stream: { write(text: string): unknown; isTTY?: boolean },
  env: Record<string, string | undefined> = process.env,
): Terminal {
  const coloured = (env.NO_COLOR ?? "") === "" && (stream.isTTY === true || (env.FORCE_COLOR ?? "") !== "");
  const style = (kind: Style) => (text: string) =>
    coloured ? styleText(kind, text, { validateStream: false }) : text;
  return {
    line: (text = "") => void stream.write(`${text}\n`),
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
