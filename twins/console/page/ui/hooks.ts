/** Small things that several pages do. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

/** Runs at most once in a while, after the first of several calls. */
export function useThrottled(run: () => void, everyMs: number): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    if (timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, everyMs);
  }, [everyMs]);
}

/** The browser's time, anew each second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Something that is sent to the twins: whether it runs, and why it failed. */
export interface Action<Failure> {
  isRunning: boolean;
  failure: Failure | undefined;
  /** Runs it; a failure is kept until the next run. @returns whether it succeeded */
  run(work: () => Promise<unknown>): Promise<boolean>;
}

/** @param isExpected tells the failures to be shown; others are thrown */
export function useAction<Failure>(isExpected: (error: unknown) => error is Failure): Action<Failure> {
  const [state, setState] = useState<{ isRunning: boolean; failure?: Failure }>({ isRunning: false });
  const run = async (work: () => Promise<unknown>) => {
    setState({ isRunning: true });
    try {
      await work();
      setState({ isRunning: false });
      return true;
    } catch (error) {
      if (!isExpected(error)) throw error;
      setState({ isRunning: false, failure: error });
      return false;
    }
  };
  return { isRunning: state.isRunning, failure: state.failure, run };
}

/** An address of a file that the page has made, as long as the component is there. */
export function useObjectUrl(file: Blob): string {
  const url = useMemo(() => URL.createObjectURL(file), [file]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return url;
}
