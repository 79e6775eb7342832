/** A slow reference implementation of queries without SQL: document by document, with doubles, by the published rules. */

export interface Event {
  text?: string;
  tags?: string[];
  level?: string;
  n?: number;
  ok?: boolean;
}

type Clause = { [name: string]: Record<string, unknown> };

/** The scores of the matching documents, by their number. */
export function evaluate(events: readonly Event[], query: unknown): Map<number, number> {
  const found = new Map<number, number>();
  events.forEach((event, index) => {
    const score = scoreOf(events, event, query as Clause, 1);
    if (score !== undefined) found.set(index, score);
  });
  return found;
}

function words(event: Event, field: string): { word: string; at: number }[] {
  const value = event[field as keyof Event];
  const texts = value === undefined ? [] : Array.isArray(value) ? value : [String(value)];
  const found: { word: string; at: number }[] = [];
  let at = 0;
  texts.forEach((text, index) => {
    if (index > 0) at += 100;
    for (const word of text.toLowerCase().split(/[^a-z]+/)) if (word !== "") found.push({ word, at: ++at });
  });
  return found;
}

function kept(length: number): number {
  if (length < 40) return length;
  const bits = Math.floor(Math.log2(length - 24)) - 3;
  return 24 + Math.floor((length - 24) / 2 ** bits) * 2 ** bits;
}

function idf(events: readonly Event[], field: string, word: string): number {
  const having = events.filter((event) => words(event, field).length > 0);
  const matching = having.filter((event) => words(event, field).some((found) => found.word === word)).length;
  return Math.log(1 + (having.length - matching + 0.5) / (matching + 0.5));
}

function bm25(
  events: readonly Event[],
  event: Event,
  field: string,
  rarity: number,
  frequency: number,
  boost: number,
) {
  const lengths = events.map((one) => words(one, field).length).filter((length) => length > 0);
  const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  const factor = 1.2 * (0.25 + (0.75 * kept(words(event, field).length)) / average);
  return (boost * 2.2 * rarity * frequency) / (frequency + factor);
}

function wordScore(events: readonly Event[], event: Event, field: string, word: string, boost: number) {
  const frequency = words(event, field).filter((found) => found.word === word).length;
  if (frequency === 0) return undefined;
  return bm25(events, event, field, idf(events, field, word), frequency, boost);
}

function valuesOf(event: Event, field: string): unknown[] {
  const value = event[field as keyof Event];
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function keywordScore(events: readonly Event[], event: Event, field: string, value: unknown, boost: number) {
  if (!valuesOf(event, field).includes(value)) return undefined;
  const having = events.filter((one) => valuesOf(one, field).length > 0);
  const matching = having.filter((one) => valuesOf(one, field).includes(value)).length;
  const average = having.reduce((sum, one) => sum + new Set(valuesOf(one, field)).size, 0) / having.length;
  const rarity = Math.log(1 + (having.length - matching + 0.5) / (matching + 0.5));
  return (boost * 2.2 * rarity) / (1 + 1.2 * (0.25 + 0.75 / average));
}

/** The sum of the matching scores, if at least the minimum matches. */
function some(scores: (number | undefined)[], minimum: number): number | undefined {
  const found = scores.filter((score) => score !== undefined);
  return found.length >= minimum ? found.reduce((sum, score) => sum + score, 0) : undefined;
}

function phraseScore(
  events: readonly Event[],
  event: Event,
  field: string,
  text: string,
  slop: number,
  boost: number,
) {
  const wanted = text
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
  const [only] = wanted;
  if (only === undefined) return undefined;
  if (wanted.length === 1) return wordScore(events, event, field, only, boost);
  const frequency = sloppy(
    wanted.map((word, place) =>
      words(event, field)
        .filter((found) => found.word === word)
        .map(({ at }) => at - place),
    ),
    slop,
  );
  if (frequency === 0) return undefined;
  const rarity = wanted.reduce((sum, word) => sum + idf(events, field, word), 0);
  return bm25(events, event, field, rarity, frequency, boost);
}

/** Lucene's sloppy walk over the positions of each word, for distinct words. */
function sloppy(lists: number[][], slop: number): number {
  if (lists.some((list) => list.length === 0)) return 0;
  const heads = lists.map((list, order) => ({ list, order, index: 0 }));
  const at = (head: { list: number[]; index: number }) => head.list[head.index] ?? Number.POSITIVE_INFINITY;
  let end = Math.max(...heads.map(at));
  let frequency = 0;
  for (;;) {
    heads.sort((a, b) => at(a) - at(b) || a.order - b.order);
    const [least, second] = heads;
    if (!least || !second) return frequency;
    const next = at(second);
    let spread = end - at(least);
    for (;;) {
      least.index++;
      const position = at(least);
      if (position === Number.POSITIVE_INFINITY) return frequency + (spread <= slop ? 1 / (1 + spread) : 0);
      end = Math.max(end, position);
      if (position > next) break;
      spread = Math.min(spread, end - position);
    }
    if (spread <= slop) frequency += 1 / (1 + spread);
  }
}

function scoreOf(events: readonly Event[], event: Event, clause: Clause, outer: number): number | undefined {
  const [[name, body] = ["", {}]] = Object.entries(clause);
  const [[field, options] = ["", {}]] = Object.entries(body) as [string, Record<string, unknown>][];
  const boost =
    outer *
    Number(
      (name === "bool" || name === "constant_score" || name === "dis_max" ? body.boost : options.boost) ?? 1,
    );
  const inner = (value: unknown) => (value as Clause[]).map((one) => scoreOf(events, event, one, boost));
  switch (name) {
    case "match_all":
      return outer;
    case "match": {
      const wanted = String(options.query)
        .toLowerCase()
        .split(/[^a-z]+/)
        .filter(Boolean);
      // The minimum does not apply to a single word.
      const written = wanted.length === 1 ? 1 : Number(options.minimum_should_match ?? 1);
      const minimum = options.operator === "and" ? wanted.length : written;
      return wanted.length === 0
        ? undefined
        : some(
            wanted.map((word) => wordScore(events, event, field, word, boost)),
            Math.max(1, minimum),
          );
    }
    case "match_phrase":
      return phraseScore(events, event, field, String(options.query), Number(options.slop ?? 0), boost);
    case "term": {
      if (field === "n") return valuesOf(event, field).includes(options.value) ? boost : undefined;
      return keywordScore(events, event, field, options.value, boost);
    }
    case "terms": {
      const wanted = body[field] as unknown[];
      return valuesOf(event, field).some((value) => wanted.includes(value)) ? outer : undefined;
    }
    case "range": {
      const { gte = Number.NEGATIVE_INFINITY, lt = Number.POSITIVE_INFINITY } = options as {
        gte?: number;
        lt?: number;
      };
      return valuesOf(event, field).some((value) => Number(value) >= gte && Number(value) < lt)
        ? boost
        : undefined;
    }
    case "exists":
      return valuesOf(event, String(body.field)).length > 0 ? outer : undefined;
    case "wildcard": {
      const pattern = new RegExp(
        `^${String(options.value).replaceAll("*", ".*").replaceAll("?", ".")}$`,
        "s",
      );
      return valuesOf(event, field).some((value) => pattern.test(String(value))) ? boost : undefined;
    }
    case "constant_score":
      return scoreOf(events, event, body.filter as Clause, 1) === undefined ? undefined : boost;
    case "dis_max": {
      const found = inner(body.queries).filter((score) => score !== undefined);
      if (found.length === 0) return undefined;
      const best = Math.max(...found);
      return best + Number(body.tie_breaker) * (found.reduce((sum, score) => sum + score, 0) - best);
    }
    case "bool":
      return boolScore(body, inner, boost);
    default:
      throw new Error(`no rule for [${name}]`);
  }
}

function boolScore(
  body: Record<string, unknown>,
  inner: (value: unknown) => (number | undefined)[],
  boost: number,
) {
  const [must, filter, should, mustNot] = ["must", "filter", "should", "must_not"].map((name) =>
    inner(body[name] ?? []),
  );
  if (!must || !filter || !should || !mustNot) return undefined;
  if (must.length + filter.length + should.length + mustNot.length === 0) return boost;
  if ([...must, ...filter].includes(undefined) || mustNot.some((score) => score !== undefined))
    return undefined;
  const least = should.length > 0 && must.length + filter.length === 0 ? 1 : 0;
  const excludesOnly = must.length + filter.length + should.length === 0;
  const minimum = excludesOnly ? 0 : Math.max(least, Number(body.minimum_should_match ?? 0));
  const optional = some(should, minimum);
  return optional === undefined ? undefined : optional + (some(must, 0) ?? 0);
}
