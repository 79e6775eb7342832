/** A twin's vendor API at all its addresses; in the legacy layout, the twin's own address also has its control plane. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { serveTwinControl } from "../control/serve.ts";
import { DEFAULT_BODY_BYTES, refuseEarly } from "../http/http.ts";
import type { TakeUpgrade } from "../http/http-server.ts";
import type { HostedTwin, TwinOfSandbox } from "../sandboxes/sandbox.ts";
import { type Local, type Service, serveOperation } from "../sandboxes/serve.ts";
import type { Upgrader } from "../sandboxes/upgrade.ts";
import { isControlPath } from "../sandboxes/vendor-router.ts";
import type { RunningTwin } from "../twin/twin.ts";

/**
 * Serves a request to `/s/<sandbox>/<twin>/…`. In the legacy layout only this address is also the `control_url`: host names
 * and ports of the twin have only the vendor's paths.
 */
export function serveTwinAddress(
  req: IncomingMessage,
  res: ServerResponse,
  address: Local,
  { sandbox, twin }: TwinOfSandbox,
): Promise<void> {
  if (sandbox.layout !== "legacy" || !isControlPath(address.path))
    return serveVendor(req, res, address, { sandbox, twin });
  dropKey(req);
  return serveTwinControl(req, res, address, { sandbox, twin });
}

/** Serves a request to the vendor API. */
export function serveVendor(
  req: IncomingMessage,
  res: ServerResponse,
  address: Local,
  { sandbox, twin }: TwinOfSandbox,
): Promise<void> {
  if (sandbox.layout === "legacy") dropKey(req);
  return sandbox.connections.answering(res, serveOperation(req, res, address, vendorService(twin)));
}

/** Refuses a request to the vendor API in the vendor's words. */
export async function refuseVendor(
  req: IncomingMessage,
  res: ServerResponse,
  { query }: Local,
  { twin }: TwinOfSandbox,
  message: string,
): Promise<void> {
  const request = { query: new URLSearchParams(query), headers: req.headers, body: Buffer.alloc(0) };
  await refuseEarly(req, res, twin.type.definition.refusal({ kind: "forbidden", message }, request));
}

/** Finds the handler of a WebSocket upgrade; `undefined`: the twin has no socket there. */
export function findVendorUpgrade(
  upgrader: Upgrader,
  req: IncomingMessage,
  address: Local,
  { sandbox, twin }: TwinOfSandbox,
): TakeUpgrade | undefined {
  if (sandbox.layout === "legacy") dropKey(req);
  return upgrader.find(req, twin, address);
}

/** Removes the key, which means nothing in the legacy layout, before anything records it. */
function dropKey(req: IncomingMessage): void {
  delete req.headers["x-api-key"];
}

function vendorService(twin: HostedTwin): Service<RunningTwin> {
  return {
    tier: "vendor",
    operations: twin.type.operations,
    target: twin.running,
    twin,
    faults: twin.faults,
    database: twin.type.definition.database,
    defaultBodyBytes: DEFAULT_BODY_BYTES,
    refusal: (refusal, request) => twin.type.definition.refusal(refusal, request),
  };
}
