/** The router of a vendor API: what the twin declares, except at addresses that no vendor API answers. */
import { createRouter, type Routable, type Router } from "./router.ts";

/** @throws Error when two routes have the same method and path. */
export function createVendorRouter<Route extends Routable>(routes: readonly Route[]): Router<Route> {
  const router = createRouter(routes);
  return {
    match: (method, path) => (isReserved(path) ? { kind: "unknown" } : router.match(method, path)),
  };
}

/** The control plane's addresses, and those of a server's own documentation. */
function isReserved(path: string): boolean {
  const bare = path.endsWith("/") ? path.slice(0, -1) : path;
  return (
    bare === "/sim" ||
    path.startsWith("/sim/") ||
    bare === "/openapi.json" ||
    bare === "/docs" ||
    bare === "/redoc"
  );
}
