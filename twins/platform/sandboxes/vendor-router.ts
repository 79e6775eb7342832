/** The router of a vendor API: the twin's operations, except at reserved addresses. */
import { createRouter, type Routable, type Router } from "../http/router.ts";

/** @throws Error when two routes have the same method and path. */
export function createVendorRouter<Route extends Routable>(routes: readonly Route[]): Router<Route> {
  const router = createRouter(routes);
  return {
    match: (method, path) => (isReserved(method, path) ? { kind: "unknown" } : router.match(method, path)),
  };
}

/** Documentation pages of common server frameworks, reserved for GET; other methods are the vendor's, for an index of that name for instance. */
const DOCUMENTATION = ["/openapi.json", "/docs", "/redoc"];

/** Whether an address is the control plane's, below `/sim/`, or a documentation page. */
function isReserved(method: string, path: string): boolean {
  if (isControlPath(path)) return true;
  return method === "GET" && DOCUMENTATION.includes(path.endsWith("/") ? path.slice(0, -1) : path);
}

/** Whether a path is below `/sim/`. */
export function isControlPath(path: string): boolean {
  return path.startsWith("/sim/") && path !== "/sim/";
}
