/** Serves one request to a control plane: key first, then the twin, then the operation. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiKeys } from "../api-keys.ts";
import { answeringWorldRefusals, errorResponse, ownRefusal } from "../errors.ts";
import { refuseEarly } from "../http.ts";
import type { Operation } from "../operation.ts";
import { createRouter } from "../router.ts";
import type { Sandbox } from "../sandbox.ts";
import { type Local, serveOperation } from "../serve.ts";
import { clockOperations } from "./clock.ts";
import { dataOperations } from "./data.ts";
import { describingOperations } from "./describe.ts";
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
  ...watchOperations,
  ...clockOperations,
].map(answeringWorldRefusals);

const operations = createRouter(controlOperations);
/** Large enough for whole worlds, which `reset` is given. */
const CONTROL_BODY_BYTES = 64 * 1024 * 1024;

export interface ControlAddress extends Local {
  /** `undefined`: there is no such sandbox. */
  sandbox: Sandbox | undefined;
  twin: string;
}

export async function serveControl(
  req: IncomingMessage,
  res: ServerResponse,
  address: ControlAddress,
  keys: ApiKeys,
): Promise<void> {
  const key = req.headers["x-api-key"];
  const organisation = keys.organisationOf(typeof key === "string" ? key : undefined);
  if (organisation === undefined) {
    await refuseEarly(req, res, unauthorized);
    return;
  }
  const { sandbox } = address;
  const twin = sandbox?.organisation === organisation ? sandbox.twins.get(address.twin) : undefined;
  if (!sandbox || !twin) {
    await refuseEarly(req, res, notFound);
    return;
  }
  await serveOperation(req, res, address, {
    tier: "control",
    operations,
    target: { sandbox, twin },
    twin,
    defaultBodyBytes: CONTROL_BODY_BYTES,
    refusal: ownRefusal,
  });
}

const unauthorized = errorResponse(401, "unauthorized", "send the sandbox's API key in the X-API-Key header");
const notFound = errorResponse(404, "not_found", "there is no such sandbox or twin");
