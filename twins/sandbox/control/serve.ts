/** Serves one request to a control plane: key first, then the twin, then the operation. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { performance } from "node:perf_hooks";
import type { ApiKeys } from "../api-keys.ts";
import { answeringRefusals, errorResponse, ownRefusal } from "../errors.ts";
import { ArrivedRequest, readBody, refuseEarly, sendResponse, whenClientLeaves } from "../http.ts";
import type { Operation, VendorResponse } from "../operation.ts";
import { createRouter } from "../router.ts";
import type { Sandbox } from "../sandbox.ts";
import { refusalOf } from "../serve-vendor.ts";
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
];

const router = createRouter(controlOperations);
/** Largest body of a control route: whole worlds are sent back by `reset`. */
const CONTROL_BODY_BYTES = 64 * 1024 * 1024;

export interface ControlAddress {
  sandbox: Sandbox | undefined;
  twin: string;
  path: string;
  query: string;
  keys: ApiKeys;
}

export async function serveControl(
  req: IncomingMessage,
  res: ServerResponse,
  address: ControlAddress,
): Promise<void> {
  const startedAt = performance.now();
  const key = req.headers["x-api-key"];
  const organisation = address.keys.organisationOf(typeof key === "string" ? key : undefined);
  if (organisation === undefined) {
    await refuseEarly(
      req,
      res,
      errorResponse(401, "unauthorized", "send the sandbox's API key in the X-API-Key header"),
    );
    return;
  }
  const { sandbox } = address;
  const twin = sandbox?.organisation === organisation ? sandbox.twins.get(address.twin) : undefined;
  if (!sandbox || !twin) {
    await refuseEarly(req, res, errorResponse(404, "not_found", "there is no such sandbox or twin"));
    return;
  }
  const method = req.method ?? "GET";
  const match = router.match(method, address.path);
  const record = (body: Buffer) =>
    twin.journal.record({
      tier: "control",
      operation: match.kind === "found" ? match.route.id : null,
      method,
      path: address.path,
      query: new URLSearchParams(address.query),
      headers: req.headers,
      body,
      startedAt,
    });
  const refuse = async (response: VendorResponse) => {
    const complete = record(nothing);
    complete(await refuseEarly(req, res, response));
  };
  if (match.kind !== "found") return refuse(ownRefusal(refusalOf(match, method, address.path)));
  const limitBytes = match.route.maxBodyBytes ?? CONTROL_BODY_BYTES;
  const reading = await readBody(req, limitBytes);
  if (reading.kind === "gone") return;
  if (reading.kind === "too-large") return refuse(ownRefusal({ kind: "body-too-large", limitBytes }));
  if (reading.kind === "malformed") {
    return refuse(ownRefusal({ kind: "malformed-request", message: reading.message }));
  }
  const complete = record(reading.body);
  const request = new ArrivedRequest(
    {
      method: match.route.method,
      path: address.path,
      params: match.params,
      headers: req.headers,
      body: reading.body,
      queryText: address.query,
    },
    (abort) => whenClientLeaves(res, abort),
  );
  const response = await answer(match.route, request, { sandbox, twin });
  complete(await sendResponse(req, res, response));
}

const nothing = Buffer.alloc(0);

async function answer(
  operation: Operation<ControlTarget>,
  request: ArrivedRequest,
  target: ControlTarget,
): Promise<VendorResponse> {
  try {
    return await answeringRefusals(async () => operation.handle(request, target));
  } catch (error) {
    target.twin.log.error({ err: error, operation: operation.id }, "the control plane failed to answer");
    return ownRefusal({ kind: "internal", message: "the control plane failed; the log says why" });
  }
}
