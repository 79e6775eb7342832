/** Makes a request smaller as long as it shows the same: what generated it need not know how. */
import type { FuzzRequest } from "@offhook/platform/testing/fuzz/request";

/**
 * Greedy: the first smaller request that still shows it is shrunk further, until none does.
 * @param limitMs after which the smallest one so far is answered
 */
export async function shrink(
  request: FuzzRequest,
  limitMs: number,
  stillShows: (smaller: FuzzRequest) => Promise<boolean>,
): Promise<FuzzRequest> {
  const until = performance.now() + limitMs;
  let smallest = request;
  for (let smaller: FuzzRequest | undefined = request; smaller !== undefined; ) {
    smallest = smaller;
    smaller = undefined;
    for (const candidate of smallerRequests(smallest)) {
      if (performance.now() > until) return smallest;
      if (!(await stillShows(candidate))) continue;
      smaller = candidate;
      break;
    }
  }
  return smallest;
}

function* smallerRequests(request: FuzzRequest): Generator<FuzzRequest> {
  const [path = "", parameters] = request.path.split("?");
  if (parameters !== undefined) {
    for (const smaller of smallerValues(Object.fromEntries(new URLSearchParams(parameters)))) {
      const written = new URLSearchParams(Object.entries(smaller as object)).toString();
      yield { ...request, path: written === "" ? path : `${path}?${written}` };
    }
  }
  if (request.body === undefined) return;
  for (const smaller of smallerValues(JSON.parse(request.body.toString()))) {
    yield { ...request, body: JSON.stringify(smaller) };
  }
}

/** The value with less in it: what removes most comes first. */
function* smallerValues(value: unknown): Generator<unknown> {
  if (typeof value === "string") {
    yield* shorterTexts(value);
    return;
  }
  if (Array.isArray(value)) {
    for (const place of value.keys()) yield value.toSpliced(place, 1);
    for (const [place, one] of value.entries()) {
      for (const smaller of smallerValues(one)) yield value.with(place, smaller);
    }
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const members = Object.entries(value);
  for (const place of members.keys()) yield Object.fromEntries(members.toSpliced(place, 1));
  for (const [place, [name, one]] of members.entries()) {
    for (const inner of innerObjects(one)) yield Object.fromEntries(members.with(place, [name, inner]));
    for (const smaller of smallerValues(one)) yield Object.fromEntries(members.with(place, [name, smaller]));
  }
}

/** Objects within a value, to take its place: a clause instead of the `bool` around it. */
function* innerObjects(value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) return;
  for (const one of Object.values(value)) {
    if (typeof one !== "object" || one === null) continue;
    if (!Array.isArray(one)) yield one;
    yield* innerObjects(one);
  }
}

function* shorterTexts(text: string): Generator<string> {
  const words = text.split(" ");
  if (words.length > 1) for (const place of words.keys()) yield words.toSpliced(place, 1).join(" ");
  else if (text.length > 20) yield text.slice(0, text.length / 2);
}
