/**
 * Finds the operation for a method and a path: a trie of path segments. A fixed segment wins over a `:name` one. The
 * path is split before it is decoded, so an encoded slash stays inside its segment and can never form a new one.
 */
import { emptyRecord } from "../base/lookup-table.ts";

export interface Routable {
  method: string;
  path: string;
}

export type RouteMatch<Route> =
  | { kind: "found"; route: Route; params: Record<string, string> }
  /** The path is served, with other methods. */
  | { kind: "wrong-method"; allowed: string[] }
  | { kind: "unknown" }
  /** The path contains an invalid percent escape, or a `.` or `..` segment. */
  | { kind: "malformed"; message: string };

interface Leaf<Route> {
  route: Route;
  names: string[];
}

interface Node<Route> {
  fixed: Map<string, Node<Route>>;
  named: Node<Route> | undefined;
  leaves: Map<string, Leaf<Route>>;
}

export interface Router<Route> {
  match(method: string, path: string): RouteMatch<Route>;
}

/** @throws Error when two routes have the same method and path. */
export function createRouter<Route extends Routable>(routes: readonly Route[]): Router<Route> {
  const root = emptyNode<Route>();
  for (const route of routes) addRoute(root, route);
  return {
    match(method, path) {
      const segments = decodeSegments(path);
      if (typeof segments === "string") return { kind: "malformed", message: segments };
      const values: string[] = [];
      const node = findNode(root, segments, 0, values);
      if (!node) return { kind: "unknown" };
      const leaf = node.leaves.get(method) ?? (method === "HEAD" ? node.leaves.get("GET") : undefined);
      if (!leaf) return { kind: "wrong-method", allowed: [...node.leaves.keys()] };
      const params = emptyRecord<string>();
      leaf.names.forEach((name, index) => {
        params[name] = values[index] ?? "";
      });
      return { kind: "found", route: leaf.route, params };
    },
  };
}

/** Whether some path matches both patterns, in which a `:name` segment stands for any one segment. */
export function pathsOverlap(one: string, other: string): boolean {
  const [mine, others] = [splitPath(one), splitPath(other)];
  const isName = (segment: string | undefined) => segment?.startsWith(":") === true;
  return (
    mine.length === others.length &&
    mine.every((segment, index) => segment === others[index] || isName(segment) || isName(others[index]))
  );
}

function emptyNode<Route>(): Node<Route> {
  return { fixed: new Map(), named: undefined, leaves: new Map() };
}

function addRoute<Route extends Routable>(root: Node<Route>, route: Route): void {
  let node = root;
  const names: string[] = [];
  for (const segment of splitPath(route.path)) {
    if (segment.startsWith(":")) {
      names.push(segment.slice(1));
      node.named ??= emptyNode();
      node = node.named;
    } else {
      let next = node.fixed.get(segment);
      if (!next) {
        next = emptyNode();
        node.fixed.set(segment, next);
      }
      node = next;
    }
  }
  if (node.leaves.has(route.method)) throw new Error(`${route.method} ${route.path} is declared twice`);
  node.leaves.set(route.method, { route, names });
}

/** Depth first, so that a fixed segment that leads nowhere falls back to a named one. */
function findNode<Route>(
  node: Node<Route>,
  segments: readonly string[],
  index: number,
  values: string[],
): Node<Route> | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.leaves.size > 0 ? node : undefined;
  const fixed = node.fixed.get(segment);
  if (fixed) {
    const found = findNode(fixed, segments, index + 1, values);
    if (found) return found;
  }
  if (!node.named || segment === "") return undefined;
  values.push(segment);
  const found = findNode(node.named, segments, index + 1, values);
  if (!found) values.pop();
  return found;
}

/** `/a/b/` and `/a/b` are the same path; `/` has no segments. */
function splitPath(path: string): string[] {
  const segments = path.split("/");
  segments.shift();
  if (segments.at(-1) === "") segments.pop();
  return segments;
}

/** The decoded segments, or what is wrong with the path. */
function decodeSegments(path: string): string[] | string {
  const segments = splitPath(path);
  for (let index = 0; index < segments.length; index++) {
    const raw = segments[index] ?? "";
    let decoded = raw;
    if (raw.includes("%")) {
      try {
        decoded = decodeURIComponent(raw);
      } catch {
        return "a percent sign in the path is not followed by an encoded character";
      }
      segments[index] = decoded;
    }
    if (hasDotSegment(decoded)) return "the path holds a dot segment";
    if (decoded.includes("\0")) return "the path holds a NUL character";
  }
  return segments;
}

/** Whether a decoded segment would traverse folders if used as a path. */
function hasDotSegment(segment: string): boolean {
  if (!segment.includes(".")) return false;
  return segment.split(/[\\/]/).some((part) => part === "." || part === "..");
}
