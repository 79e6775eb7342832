/** Serves one request to a control plane: key first, then the twin, then the operation. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiKeys } from "../api-keys.ts";
import { answeringWorldRefusals, errorResponse, ownRefusal } from "../errors.ts";
import { refuseEarly } from "../http.ts";
import type { Operation } from "../operation.ts";
import { createRouter } from "../router.ts";
import type { Sandboxes } from "../sandboxes.ts";
import { type Local, serveOperation } from "../serve.ts";
import { clientOperations } from "./client.ts";
import { clockOperations } from "./clock.ts";
import { dataOperations } from "./data.ts";
import { describingOperations } from "./describe.ts";
import { faultOperations } from "./faults.ts";
import { fileOperations } from "./files.ts";
import { requestOperations } from "./requests.ts";
import { stateOperations } from "./state.ts";
import type { ControlTarget } from "./target.ts";
import { watchOperations } from "./watch.ts";

/** Every route of a twin's control plane, below its `control_url`. */
export const controlOperations: readonly Operation<ControlTarget>[] = [
  ...describingOperations,
  ...dataOperations,
  ...requestOperations,
  ...stateOperations,
  ...fileOperations,
  ...clientOperations,
  ...watchOperations,
  ...clockOperations,
  ...faultOperations,
].map(answeringWorldRefusals);

const operations = createRouter(controlOperations);
/** Large enough for whole worlds, which `reset` is given. */
const CONTROL_BODY_BYTES = 64 * 1024 * 1024;

export interface ControlAddress extends Local {
  /** Name of the sandbox in addresses. */
  sandbox: string;
  twin: string;
}

/** A request to `/c/…`: the key comes first, and what is another organisation's is not there. */
export async function serveControl(
  req: IncomingMessage,
  res: ServerResponse,
  address: ControlAddress,
  keys: ApiKeys,
  sandboxes: Sandboxes,
): Promise<void> {
  const organisation = organisationOf(req, keys);
  if (organisation === undefined) {
    await refuseEarly(req, res, unauthorized);
    return;
  }
  const sandbox = sandboxes.owned(organisation, address.sandbox);
  const twin = sandbox?.layout === "split" ? sandbox.twins.get(address.twin) : undefined;
  if (!sandbox || !twin) {
    await refuseEarly(req, res, notFound);
    return;
  }
  await serveTwinControl(req, res, address, { sandbox, twin });
}

/** Serves the control plane of a twin to somebody who may use it. */
export function serveTwinControl(
  req: IncomingMessage,
  res: ServerResponse,
  address: Local,
  target: ControlTarget,
): Promise<void> {
  const serving = serveOperation(req, res, address, {
    tier: "control",
    operations,
    target,
    twin: target.twin,
    defaultBodyBytes: CONTROL_BODY_BYTES,
    refusal: ownRefusal,
  });
  return target.sandbox.connections.answering(res, serving);
}

/** Whose key a request carries; the header alone counts. */
export function organisationOf(req: IncomingMessage, keys: ApiKeys): string | undefined {
  const key = req.headers["x-api-key"];
  return keys.organisationOf(typeof key === "string" ? key : undefined);
}

export const unauthorized = errorResponse(
  401,
  "unauthorized",
  "send the sandbox's API key in the X-API-Key header",
);
const notFound = errorResponse(404, "not_found", "there is no such sandbox or twin");
