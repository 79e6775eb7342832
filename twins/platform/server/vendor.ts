/** A twin's vendor API, however it is reached; at the twin's own address a legacy world has its control plane beside it. */
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
 * Serves a request to `/s/<sandbox>/<twin>/…`. In the legacy layout that address, and no other, is the `control_url` too:
 * a host name or a port that leads to the twin has the vendor's paths alone.
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

/** Refuses a request to the vendor API, whatever it asks for, in the vendor's words. */
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

/** What takes a WebSocket upgrade of the vendor API; `undefined`: the twin has no socket there. */
export function findVendorUpgrade(
  upgrader: Upgrader,
  req: IncomingMessage,
  address: Local,
  { sandbox, twin }: TwinOfSandbox,
): TakeUpgrade | undefined {
  if (sandbox.layout === "legacy") dropKey(req);
  return upgrader.find(req, twin, address);
}

/** In the legacy layout a key means nothing, so it is gone before anything sees it. */
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
    defaultBodyBytes: DEFAULT_BODY_BYTES,
    refusal: (refusal, request) => twin.type.definition.refusal(refusal, request),
  };
}
