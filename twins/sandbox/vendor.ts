/** A twin's own address, however it was reached: the vendor API, and in the legacy layout the control plane beside it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { serveTwinControl } from "./control/serve.ts";
import { DEFAULT_BODY_BYTES } from "./http.ts";
import type { HostedTwin, Sandbox } from "./sandbox.ts";
import { type Local, type Service, serveOperation } from "./serve.ts";
import type { RunningTwin } from "./twin.ts";
import type { Upgrader } from "./upgrade.ts";

export interface TwinOfSandbox {
  sandbox: Sandbox;
  twin: HostedTwin;
}

export function serveVendor(
  req: IncomingMessage,
  res: ServerResponse,
  address: Local,
  { sandbox, twin }: TwinOfSandbox,
): Promise<void> {
  if (sandbox.layout === "legacy") {
    dropKey(req);
    if (address.path === "/sim" || address.path.startsWith("/sim/")) {
      return serveTwinControl(req, res, address, { sandbox, twin });
    }
  }
  return sandbox.connections.answering(res, serveOperation(req, res, address, vendorService(twin)));
}

export function upgradeVendor(
  upgrader: Upgrader,
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  address: Local,
  { sandbox, twin }: TwinOfSandbox,
): Promise<void> {
  if (sandbox.layout === "legacy") dropKey(req);
  return upgrader.upgrade(req, socket, head, twin, address);
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
    refusal: (refusal) => twin.type.definition.refusal(refusal),
  };
}
