/** Values as people read them: JSON with indentation, and a button that copies. */
import { useState } from "preact/hooks";

/** JSON, or text as it is; long ones scroll. */
export function Json({ value }: { value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  return <pre tabIndex={0}>{text ?? "—"}</pre>;
}

/** Time for which a button says that it has copied. */
const COPIED_MS = 1_500;

/** Copies a text; says so for a moment. */
export function CopyButton({
  text,
  children,
}: {
  text: string | (() => string | Promise<string>);
  children: string;
}) {
  const [said, setSaid] = useState<string>();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
      setSaid("Copied");
    } catch {
      setSaid("Not copied: the browser refused");
    }
    setTimeout(() => setSaid(undefined), COPIED_MS);
  };
  return (
    <button type="button" class="button small" onClick={() => void copy()} aria-live="polite">
      {said ?? children}
    </button>
  );
}
