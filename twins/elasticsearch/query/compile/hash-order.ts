/** The order in which the vendor visits the fields of a query: its errors name the first unfit one. */

/** Orders entries as a Java hash map iterates over them. Source: `java.util.HashMap`, `java.lang.String.hashCode`. */
export function orderByHash<Value>(entries: Iterable<readonly [string, Value]>): Map<string, Value> {
  const distinct = new Map(entries);
  let buckets = 16;
  while (distinct.size > buckets * 0.75) buckets *= 2;
  const bucketOf = (name: string) => {
    const hash = hashCode(name);
    return (hash ^ (hash >>> 16)) & (buckets - 1);
  };
  return new Map([...distinct].sort(([a], [b]) => bucketOf(a) - bucketOf(b)));
}

function hashCode(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}
