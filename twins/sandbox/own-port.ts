/** A port of a twin's own, at whose root its vendor API answers, as `port` of a service asks for. */
import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import { createHttpServer } from "./http-server.ts";
import { listen } from "./listen.ts";
import type { Local } from "./serve.ts";
import type { Upgrader } from "./upgrade.ts";
import { serveVendor, type TwinOfSandbox, upgradeVendor } from "./vendor.ts";

export interface OpenPort {
  /** `http://host:port`, without a slash at the end. */
  url: string;
  /** Ends every connection and waits until the port is free. */
  close(): Promise<void>;
}

/** @throws Error naming the service and the port when it cannot be had */
export async function openPort(
  of: TwinOfSandbox,
  options: { host: string; port: number; upgrader: Upgrader; log: Logger },
): Promise<OpenPort> {
  const server = createHttpServer(
    {
      serve: (req, res) => serveVendor(req, res, localOf(req), of),
      upgrade: (req, socket, head) => upgradeVendor(options.upgrader, req, socket, head, localOf(req), of),
    },
    options.log,
  );
  const setting = `the port of service ${of.twin.type.definition.name}`;
  const url = await listen(server, options.host, options.port, setting);
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The whole path is the vendor's; of a whole URL, as proxies send it, the path alone counts. */
function localOf(req: IncomingMessage): Local {
  const target = req.url ?? "/";
  const absolute = !target.startsWith("/") && URL.canParse(target) ? new URL(target) : undefined;
  const local = absolute ? `${absolute.pathname}${absolute.search}` : target;
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, query: "" } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}
