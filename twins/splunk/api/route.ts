/** Routes of the management API: addresses, authentication, output mode and errors. */
import { OutOfMemory, QueryInterrupted, QueueFull, StoreFull } from "@offhook/log-store/store/log-store";
import { emptyRecord, lookupTable } from "@offhook/platform/base/lookup-table";
import type { Method, Operation, VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import { WorldRefusal } from "@offhook/platform/world/world";
import { memoryExceededMessage } from "../jobs/job-notes.ts";
import type { LogQueryTwin } from "../log-query-twin.ts";
import { SplError } from "../spl/spl-error.ts";
import { Arguments, readArguments, refusalMode } from "./arguments.ts";
import { authenticate } from "./authenticate.ts";
import type { Call } from "./call.ts";
import { messagesResponse } from "./messages.ts";
import { namesInPath } from "./name-segment.ts";
import { entryModes, type OutputMode, readOutputMode } from "./output-mode.ts";
import { dispatcherError, handlerError, RestError } from "./rest-error.ts";
import { checkCapability, checkNamespace } from "./rights.ts";

/** The vendor has no limit; 8 MiB is far more than the longest sensible search. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

export interface RouteDeclaration {
  id: string;
  method: Method;
  /** Below `/services` and `/servicesNS/:owner/:app`. With `v2`, the path below `/search` is served below `/search/v2` too. */
  path: string;
  v2?: boolean;
  summary: string;
  /** Whether the route works without authentication; default false. */
  open?: boolean;
  /** Required capability: `indexes_edit`. */
  capability?: string;
  /** Whether the body is data and not a form: arguments are in the address only. */
  rawBody?: boolean;
  /** Output modes, the default first; absent: Atom, XML and JSON. */
  modes?: readonly [OutputMode, ...OutputMode[]];
  /** Whether the journal masks request and response bodies as a whole. */
  secretBody?: boolean;
  handle(call: Call): VendorResponse | Promise<VendorResponse>;
}

/** Makes the operations of a route, one for each address. */
export function route(declaration: RouteDeclaration): Operation<LogQueryTwin>[] {
  const { id, method, path, v2 = false, summary, secretBody = false } = declaration;
  const local = v2 ? [path, path.replace(/^\/search\//, "/search/v2/")] : [path];
  const paths = ["/services", "/servicesNS/:owner/:app"].flatMap((prefix) =>
    local.map((below) => `${prefix}${below}`),
  );
  return paths.map((address) => ({
    id,
    method,
    path: address,
    summary,
    surface: "rest" as const,
    maxBodyBytes: MAX_BODY_BYTES,
    secretBody,
    handle: (request, twin) => perform(request, namesInPath(address, request.path), twin, declaration),
  }));
}

async function perform(
  request: VendorRequest,
  params: Readonly<Record<string, string>>,
  twin: LogQueryTwin,
  { modes = ["atom", ...entryModes], open = false, rawBody = false, capability, handle }: RouteDeclaration,
): Promise<VendorResponse> {
  const notes = emptyRecord<unknown>();
  const respond = async () => {
    try {
      const given = rawBody ? new Arguments(request.query) : readArguments(request);
      const user = open ? undefined : authenticate(request, twin);
      const mode = readOutputMode(given.get("output_mode"), modes, modes[0]);
      const { owner, app } = params;
      const call: Call = { request, params, twin, arguments: given, mode, user, owner, app, notes };
      if (!open) checkNamespace(call);
      if (capability !== undefined) checkCapability(call, capability);
      return await handle(call);
    } catch (error) {
      const { status, messages, headers } = asRestError(error);
      const response = messagesResponse(status, messages, refusalMode(request));
      return { ...response, headers: { ...response.headers, ...headers } };
    }
  };
  const response = await respond();
  return {
    ...response,
    headers: { ...commonHeaders, ...response.headers },
    ...(Object.keys(notes).length > 0 ? { notes } : {}),
  };
}

/** Splunkd's message about a full disk, without the name of a partition. */
const DISK_FULL =
  "The index processor has paused data flow. Data writes to the indexes cannot safely proceed. Increase free disk space by removing or relocating data.";

/** Converts an error to splunkd's response. @throws the error itself when it is unexpected */
export function asRestError(error: unknown): RestError {
  if (error instanceof RestError) return error;
  if (error instanceof SplError) return dispatcherError(400, error.message);
  if (error instanceof StoreFull) return handlerError(503, DISK_FULL);
  // An invalid row is a bad request.
  if (error instanceof WorldRefusal) return handlerError(400, error.message);
  if (error instanceof QueueFull) {
    return handlerError(503, `Search not executed: ${error.message}.`);
  }
  if (error instanceof QueryInterrupted) return handlerError(503, `Search not executed: ${error.message}.`);
  if (error instanceof OutOfMemory) return handlerError(503, memoryExceededMessage(error));
  throw error;
}

export const commonHeaders = lookupTable<string>({
  "cache-control": "no-store, no-cache, must-revalidate, max-age=0",
  expires: "Thu, 26 Oct 1978 00:00:00 GMT",
  vary: "Cookie, Authorization",
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
  server: "Splunkd",
});
