/** Keys of the page. A component says which it has; `?` lists those that work at the moment. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Dialog } from "./dialog.tsx";

export interface KeyBinding {
  /** `j`, `Escape`, ` `, or two one after the other: `g c`. */
  keys: string;
  /** What it does, for the list. */
  what: string;
  /** Absent: the control that has the focus does it by itself, and the list tells of it. */
  run?: (() => void) | undefined;
}

const bound = signal<readonly KeyBinding[][]>([]);
const isListShown = signal(false);

/** Time between the two keys of a sequence. */
const SEQUENCE_MS = 1_000;

/** Binds keys while the component is there; the newest component wins. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  const keys = bindings.map((binding) => `${binding.keys}:${binding.what}`).join("\n");
  useEffect(() => {
    const own = latest.current.map(({ keys, what, run }, index) => ({
      keys,
      what,
      run: run && (() => latest.current[index]?.run?.()),
    }));
    bound.value = [...bound.peek(), own];
    return () => {
      bound.value = bound.peek().filter((each) => each !== own);
    };
  }, [keys]);
}

/** Opens the list of keys. */
export function showKeys(): void {
  isListShown.value = true;
}

/** Starts listening; keys typed into fields, and those with Ctrl, Alt or Meta, are left alone. */
export function listenToKeys(): void {
  let first: { key: string; atMs: number } | undefined;
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === "?") {
      showKeys();
      return;
    }
    const before =
      first !== undefined && performance.now() - first.atMs < SEQUENCE_MS ? first.key : undefined;
    const binding = find(before === undefined ? event.key : `${before} ${event.key}`) ?? find(event.key);
    first = { key: event.key, atMs: performance.now() };
    if (!binding || worksOnControl(event)) return;
    event.preventDefault();
    binding.run?.();
  });
}

function find(keys: string): KeyBinding | undefined {
  return bound
    .peek()
    .flat()
    .findLast((binding) => binding.run !== undefined && binding.keys === keys);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox], [type=radio])")
  );
}

/** Space and Enter belong to the button or link that has the focus. */
function worksOnControl({ key, target }: KeyboardEvent): boolean {
  const isPress = key === " " || key === "Enter";
  return (
    isPress && target instanceof HTMLElement && target.matches("button, a, summary, input, [role=slider]")
  );
}

/** The list of keys. */
export function KeyList() {
  if (!isListShown.value) return null;
  const bindings = [{ keys: "?", what: "this list" }, ...bound.value.flat()];
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        isListShown.value = false;
      }}
    >
      <dl class="facts">
        {bindings.map(({ keys, what }) => (
          <>
            <dt key={`${keys} keys`}>
              {namesOf(keys).map((key) => (
                <>
                  <kbd key={key}>{key}</kbd>{" "}
                </>
              ))}
            </dt>
            <dd key={`${keys} what`}>{what}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}

/** The names of one key, or of two in a sequence. */
function namesOf(keys: string): string[] {
  return keys === " " ? ["Space"] : keys.split(" ").map((key) => KEY_NAMES[key] ?? key);
}

const KEY_NAMES: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  PageUp: "Page up",
  PageDown: "Page down",
};
