/** Which span is active, across awaits. */
import { type Context, ROOT_CONTEXT } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { isTracingSuppressed } from "@opentelemetry/core";

/**
 * The SDK's context manager, which an export outside any span does not use: before Node 24, the first use of an
 * AsyncLocalStorage makes every asynchronous operation of the process dearer, each frame of audio by 8 %.
 */
export class ContextManager extends AsyncLocalStorageContextManager {
  override with<Args extends unknown[], Work extends (...args: Args) => ReturnType<Work>>(
    context: Context,
    work: Work,
    thisArg?: ThisParameterType<Work>,
    ...args: Args
  ): ReturnType<Work> {
    const isExport = isTracingSuppressed(context) && this.active() === ROOT_CONTEXT;
    return isExport ? work.call(thisArg, ...args) : super.with(context, work, thisArg, ...args);
  }
}
