/** The router of a vendor API: what the twin declares, except at addresses that no vendor API answers. */
import { createRouter, type Routable, type Router } from "../http/router.ts";

/** @throws Error when two routes have the same method and path. */
export function createVendorRouter<Route extends Routable>(routes: readonly Route[]): Router<Route> {
  const router = createRouter(routes);
  return {
    match: (method, path) => (isReserved(method, path) ? { kind: "unknown" } : router.match(method, path)),
  };
}

/** Pages of a server's own documentation. A browser gets them; what else is done at such a path is the vendor's, as to an index of that name. */
const DOCUMENTATION = ["/openapi.json", "/docs", "/redoc"];

/** What is below `/sim/`, the control plane's, and the pages of documentation. */
function isReserved(method: string, path: string): boolean {
  if (isControlPath(path)) return true;
  return method === "GET" && DOCUMENTATION.includes(path.endsWith("/") ? path.slice(0, -1) : path);
}

/** Whether a path is below `/sim/`. */
export function isControlPath(path: string): boolean {
  return path.startsWith("/sim/") && path !== "/sim/";
}
