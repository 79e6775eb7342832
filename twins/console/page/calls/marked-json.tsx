/** JSON in which the members that are not as expected are marked, with what was expected. */
import type { ExpectedMember } from "./failures.ts";

export interface MarkedJsonProps {
  value: unknown;
  part: ExpectedMember["part"];
  expected: readonly ExpectedMember[];
}

export function MarkedJson({ value, part, expected }: MarkedJsonProps) {
  const own = expected.filter((member) => member.part === part);
  const lines = linesOf(value, "", 0);
  const missing = own.filter(({ path }) => !lines.some((line) => line.path === path));
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        {lines.map(({ path, text }, index) => {
          const failed = own.find((member) => member.path === path);
          const end = index < lines.length - 1 ? "\n" : "";
          return failed === undefined ? (
            `${text}${end}`
          ) : (
            <>
              <mark key={path}>{text}</mark> <b key={`${path} expected`}>← expected {failed.wanted}</b>
              {end}
            </>
          );
        })}
      </pre>
      {missing.map(({ path, wanted }) => (
        <p key={path} class="notice bad">
          Expected {path.replace(/^\./, "")} {wanted}; it is not there.
        </p>
      ))}
    </>
  );
}

interface JsonLine {
  /** Of the value that begins in this line; absent where one ends. */
  path: string | undefined;
  text: string;
}

/** The lines that `JSON.stringify` writes with an indentation of two. */
function linesOf(value: unknown, path: string, depth: number): JsonLine[] {
  if (typeof value === "string" && depth === 0) return [{ path, text: value }];
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) {
    return [{ path, text: JSON.stringify(value) ?? "null" }];
  }
  const isList = Array.isArray(value);
  const indent = "  ".repeat(depth);
  const items = Object.entries(value).map(([name, member]) => {
    const lines = linesOf(member, isList ? `${path}[${name}]` : `${path}.${name}`, depth + 1);
    const [first, ...rest] = lines;
    const label = isList ? "" : `${JSON.stringify(name)}: `;
    return [{ path: first?.path, text: `${indent}  ${label}${first?.text ?? ""}` }, ...rest];
  });
  const inner = items.flatMap((lines, index) =>
    lines.map((line, at) =>
      at === lines.length - 1 && index < items.length - 1 ? { ...line, text: `${line.text},` } : line,
    ),
  );
  return [
    { path, text: isList ? "[" : "{" },
    ...inner,
    { path: undefined, text: `${indent}${isList ? "]" : "}"}` },
  ];
}
