/** Data of a component: read when its key changes, kept while it is read again. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./client.ts";

export interface Resource<Data> {
  /** The last answer; stays while a newer one is on its way. */
  data: Data | undefined;
  error: ApiError | undefined;
  isLoading: boolean;
  /** Reads again; what is being read is awaited first, so that data that changes all the time is still shown. */
  reload(): void;
}

/**
 * @param key names what is read: a new key reads anew and forgets the data of the one before; `undefined` reads nothing
 * @param load is given a signal that aborts when another key comes or the component goes
 */
export function useResource<Data>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<Data>,
): Resource<Data> {
  const [state, setState] = useState<{ key: string | undefined; data?: Data; error?: ApiError }>({ key });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const reading = useRef<{ again: boolean }>(undefined);
  useEffect(() => {
    if (key === undefined) return;
    const controller = new AbortController();
    const own = { again: false };
    reading.current = own;
    const settled = latest.current(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ key, data });
      },
      (reason: unknown) => {
        if (controller.signal.aborted) return;
        const error = reason instanceof ApiError ? reason : new ApiError(0, "failed", String(reason));
        setState((before) => (before.key === key ? { ...before, error } : { key, error }));
      },
    );
    void settled.then(() => {
      if (reading.current !== own) return;
      reading.current = undefined;
      if (own.again) setTurn((before) => before + 1);
    });
    return () => {
      controller.abort();
      if (reading.current === own) reading.current = undefined;
    };
  }, [key, turn]);
  const reload = useCallback(() => {
    if (reading.current) reading.current.again = true;
    else setTurn((before) => before + 1);
  }, []);
  const current = state.key === key ? state : { data: undefined, error: undefined };
  const { data, error } = current;
  return { data, error, isLoading: key !== undefined && data === undefined && error === undefined, reload };
}
