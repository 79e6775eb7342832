/** What two answers to one request differ in. */

/** One place where two answers differ. */
export interface Difference {
  /** Such as `hits.hits[0]._score`. */
  path: string;
  real: unknown;
  twin: unknown;
}

export interface ComparedAnswer {
  status: number;
  body: unknown;
}

/** Scores are sums of 32-bit numbers there, in an order of their own. */
const SCORE_TOLERANCE = 2e-5;
const VALUE_TOLERANCE = 1e-9;
/** Members that differ between any two servers, or from one moment to the next. */
const OWN_MEMBERS = new Set([
  "took",
  "node",
  "index_uuid",
  "_scroll_id",
  "pit_id",
  "_seq_no",
  "_primary_term",
  "stack_trace",
]);
const MAX_DIFFERENCES = 40;

export function differencesOf(real: ComparedAnswer, twin: ComparedAnswer): Difference[] {
  if (real.status !== twin.status) {
    return [
      {
        path: "status",
        real: { status: real.status, ...errorOf(real) },
        twin: { status: twin.status, ...errorOf(twin) },
      },
    ];
  }
  const found: Difference[] = [];
  compare("", alignTies(real.body, twin.body), twin.body, found);
  return found;
}

function compare(path: string, real: unknown, twin: unknown, found: Difference[]): void {
  if (found.length >= MAX_DIFFERENCES) return;
  if (isObject(real) && isObject(twin)) {
    for (const name of new Set([...Object.keys(real), ...Object.keys(twin)])) {
      if (OWN_MEMBERS.has(name)) continue;
      compare(path === "" ? name : `${path}.${name}`, real[name], twin[name], found);
    }
    return;
  }
  if (Array.isArray(real) && Array.isArray(twin)) {
    if (real.length !== twin.length) {
      found.push({ path: `${path}.length`, real: real.length, twin: twin.length });
    }
    for (let at = 0; at < Math.max(real.length, twin.length); at++)
      compare(`${path}[${at}]`, real[at], twin[at], found);
    return;
  }
  if (!isSame(path, real, twin)) found.push({ path, real, twin });
}

function isSame(path: string, real: unknown, twin: unknown): boolean {
  if (typeof real === "number" && typeof twin === "number") {
    const tolerance = /score|sort\[|value$/.test(path) ? SCORE_TOLERANCE : VALUE_TOLERANCE;
    return isNear(real, twin, tolerance);
  }
  return real === twin || (isEmptyObject(real) && isEmptyObject(twin));
}

function isNear(a: number, b: number, tolerance: number): boolean {
  return a === b || Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b), tolerance);
}

/** Puts the real hits whose scores are all but equal into the twin's order: a last bit may decide which comes first. */
function alignTies(real: unknown, twin: unknown): unknown {
  const [hits, others] = [hitsOf(real), hitsOf(twin)];
  if (!hits || !others || !isObject(real) || !isObject(real.hits)) return real;
  const places = new Map(others.map((hit, place) => [hit._id, place]));
  const placeOf = (hit: Record<string, unknown>) => places.get(hit._id) ?? others.length;
  const aligned: Record<string, unknown>[] = [];
  for (let from = 0; from < hits.length; ) {
    let to = from + 1;
    while (to < hits.length && areTied(hits[to - 1], hits[to])) to++;
    aligned.push(...hits.slice(from, to).sort((a, b) => placeOf(a) - placeOf(b)));
    from = to;
  }
  return { ...real, hits: { ...real.hits, hits: aligned } };
}

function areTied(
  one: Record<string, unknown> | undefined,
  other: Record<string, unknown> | undefined,
): boolean {
  const [a, b] = [one?._score, other?._score];
  if (typeof a !== "number" || typeof b !== "number" || one?.sort !== undefined) return false;
  return a !== b && isNear(a, b, SCORE_TOLERANCE);
}

function hitsOf(body: unknown): Record<string, unknown>[] | undefined {
  if (!isObject(body) || !isObject(body.hits) || !Array.isArray(body.hits.hits)) return undefined;
  return body.hits.hits.filter(isObject);
}

/** Type and reason of a refusal, of the shard's failure where there is one. */
export function errorOf({ body }: ComparedAnswer): object {
  if (!isObject(body)) return {};
  if (!isObject(body.error)) return { error: body.error };
  const { root_cause: causes } = body.error;
  const cause = Array.isArray(causes) && isObject(causes[0]) ? causes[0] : body.error;
  return { type: cause.type, reason: cause.reason };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
