/** Import circles: files that reach one another by their imports. */
import path from "node:path";
import type { Import } from "./imports.ts";

/** What may be round: files of one folder that call one another, as recursive descent does. Types never need to be. */
type CircleKind = "across folders" | "closed by a type";

export interface Circle {
  kind: CircleKind;
  /** Every file that reaches the others and is reached by them. */
  files: string[];
  /** A shortest way round, its first file again at the end. */
  way: string[];
}

type Graph = ReadonlyMap<string, ReadonlyMap<string, Edge>>;
type Edge = Pick<Import, "isTypeOnly">;

export function refusedCircles(imports: readonly Import[]): Circle[] {
  const graph = graphOf(imports);
  return components(graph).flatMap((files): Circle[] => {
    const across = shortestCircle(files, graph, (from, to) => folderOf(from) !== folderOf(to));
    if (across) return [{ kind: "across folders", files, way: across }];
    const byType = shortestCircle(files, graph, (_from, _to, { isTypeOnly }) => isTypeOnly);
    return byType ? [{ kind: "closed by a type", files, way: byType }] : [];
  });
}

const folderOf = (file: string) => path.posix.dirname(file);

function graphOf(imports: readonly Import[]): Graph {
  const graph = new Map<string, Map<string, Edge>>();
  for (const { from, to, isTypeOnly } of imports) {
    if (to === undefined || to === from) continue;
    const edges = graph.get(from) ?? new Map<string, Edge>();
    // A file imported twice, once for its types, is imported for its values.
    edges.set(to, { isTypeOnly: isTypeOnly && (edges.get(to)?.isTypeOnly ?? true) });
    graph.set(from, edges);
  }
  return graph;
}

/** The shortest circle within a component that has an edge of the given kind. */
function shortestCircle(
  component: readonly string[],
  graph: Graph,
  isMeant: (from: string, to: string, edge: Edge) => boolean,
): string[] | undefined {
  const members = new Set(component);
  const ways = component.flatMap((from) =>
    [...(graph.get(from) ?? [])]
      .filter(([to, edge]) => members.has(to) && isMeant(from, to, edge))
      .map(([to]) => [from, ...shortestWay(to, from, graph)]),
  );
  return ways.sort((a, b) => a.length - b.length)[0];
}

/** Breadth first. Both ends belong to one component, so there is a way. */
function shortestWay(from: string, to: string, graph: Graph): string[] {
  const cameFrom = new Map<string, string | undefined>([[from, undefined]]);
  for (const file of cameFrom.keys()) {
    if (file === to) break;
    for (const next of graph.get(file)?.keys() ?? []) {
      if (!cameFrom.has(next)) cameFrom.set(next, file);
    }
  }
  const way: string[] = [];
  for (let file: string | undefined = to; file !== undefined; file = cameFrom.get(file)) way.unshift(file);
  return way;
}

/** Strongly connected components of more than one file (Tarjan), each sorted. */
function components(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const found: string[][] = [];

  /** @returns the lowest order that the file reaches within its component */
  function visit(file: string): number {
    const own = order.size;
    let lowest = own;
    order.set(file, own);
    stack.push(file);
    onStack.add(file);
    for (const next of graph.get(file)?.keys() ?? []) {
      const known = order.get(next);
      if (known === undefined) lowest = Math.min(lowest, visit(next));
      else if (onStack.has(next)) lowest = Math.min(lowest, known);
    }
    if (lowest === own) {
      const members = stack.splice(stack.indexOf(file));
      for (const member of members) onStack.delete(member);
      if (members.length > 1) found.push(members.sort());
    }
    return lowest;
  }

  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found;
}
