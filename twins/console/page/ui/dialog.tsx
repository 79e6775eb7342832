/** Dialogs: the browser's own, so that focus, Escape and the rest of the page are taken care of. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

export interface DialogProps {
  title: string;
  onClose(): void;
  children: ComponentChildren;
}

/** Open as long as it is there. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="body">
        <div class="heading">
          <h2 id={id}>{title}</h2>
          <div class="end">
            <button type="button" class="button small" onClick={onClose}>
              Close
            </button>
          </div>
        </div>
        {children}
      </div>
    </dialog>
  );
}

export interface ConfirmProps {
  title: string;
  /** What happens after a yes. */
  children: ComponentChildren;
  /** What the button says: `Delete and replace`. */
  action: string;
  run(): Promise<void> | void;
  onClose(): void;
}

/** Asks before something is lost; shows why it failed, if it does. */
export function Confirm({ title, children, action, run, onClose }: ConfirmProps) {
  const [state, setState] = useState<{ running: boolean; problem?: string }>({ running: false });
  const proceed = async () => {
    setState({ running: true });
    try {
      await run();
      onClose();
    } catch (error) {
      setState({ running: false, problem: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      {state.problem === undefined ? null : (
        <div class="notice bad" role="alert">
          {state.problem}
        </div>
      )}
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button danger" disabled={state.running} onClick={() => void proceed()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
