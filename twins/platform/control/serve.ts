/** Serves one request to a control plane: key first, then the twin, then the operation. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import { type Authenticator, unauthorized } from "../http/authentication.ts";
import { answeringWorldErrors, errorResponse, ownRefusal } from "../http/errors.ts";
import { refuseEarly } from "../http/http.ts";
import type { Operation, VendorResponse } from "../http/operation.ts";
import type { Sandboxes } from "../sandboxes/sandboxes.ts";
import { type Local, serveOperation } from "../sandboxes/serve.ts";
import { clientOperations } from "./client.ts";
import { clockOperations } from "./clock.ts";
import { dataOperations } from "./data.ts";
import { describingOperations } from "./describe.ts";
import { differenceOperations } from "./difference.ts";
import { faultOperations } from "./faults.ts";
import { fileOperations } from "./files.ts";
import { requestOperations } from "./requests.ts";
import { stateOperations } from "./state.ts";
import type { ControlTarget } from "./target.ts";
import { watchOperations } from "./watch.ts";

/** The control routes of every twin, below its `control_url`; a twin may have others beside them. */
export const controlOperations: readonly Operation<ControlTarget>[] = [
  ...describingOperations,
  ...dataOperations,
  ...differenceOperations,
  ...requestOperations,
  ...stateOperations,
  ...fileOperations,
  ...clientOperations,
  ...watchOperations,
  ...clockOperations,
  ...faultOperations,
].map(answeringWorldErrors);

const CONTROL_BODY_BYTES = 64 * 1024 * 1024;
/** Allowance for the members of a reset around the tables of a snapshot. */
const AROUND_SNAPSHOT_BYTES = 1024 * 1024;

export interface ControlAddress extends Local {
  /** Name of the sandbox in addresses. */
  sandbox: string;
  twin: string;
}

/** Serves `/c/…`: checks who asks first; another organisation's sandboxes do not exist for the caller. */
export async function serveControl(
  req: IncomingMessage,
  res: ServerResponse,
  address: ControlAddress,
  authenticator: Authenticator,
  sandboxes: Sandboxes,
): Promise<void> {
  const organisation = authenticator.organisationOf(req.headers);
  if (organisation === undefined) return refuseKey(req, res, address, sandboxes, unauthorized);
  const sandbox = sandboxes.get(organisation, address.sandbox)?.sandbox;
  const twin = sandbox?.layout === "split" ? sandbox.twins.get(address.twin) : undefined;
  if (!sandbox || !twin) return refuseKey(req, res, address, sandboxes, notFound);
  await serveTwinControl(req, res, address, { sandbox, twin });
}

/** Refuses a request and records it in the addressed twin's journal, if any, so that only the twin's owner learns of it. */
async function refuseKey(
  req: IncomingMessage,
  res: ServerResponse,
  address: ControlAddress,
  sandboxes: Sandboxes,
  refusal: VendorResponse,
): Promise<void> {
  const method = req.method ?? "GET";
  const sandbox = sandboxes.running(address.sandbox);
  const twin = sandbox?.layout === "split" ? sandbox.twins.get(address.twin) : undefined;
  const match = twin?.type.control.match(method, address.path);
  const complete = twin?.journal.recordRefused({
    operation: match?.kind === "found" ? match.route.id : null,
    method,
    path: address.path,
    query: new URLSearchParams(address.query),
    headers: req.headers,
    startedAt: performance.now(),
  });
  const sent = await refuseEarly(req, res, refusal);
  complete?.(sent);
}

/** Serves the control plane of a twin to an authorized caller. */
export function serveTwinControl(
  req: IncomingMessage,
  res: ServerResponse,
  address: Local,
  target: ControlTarget,
): Promise<void> {
  const serving = serveOperation(req, res, address, {
    tier: "control",
    operations: target.twin.type.control,
    target,
    twin: target.twin,
    defaultBodyBytes: CONTROL_BODY_BYTES,
    spoolBytes: target.sandbox.snapshotBytes + AROUND_SNAPSHOT_BYTES,
    refusal: ownRefusal,
  });
  return target.sandbox.connections.answering(res, serving);
}

const notFound = errorResponse(404, "not_found", "there is no such sandbox or twin");
