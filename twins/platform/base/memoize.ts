/**
 * Memoizes a pure function of a text. Thrown errors are not cached.
 * @param maxEntries size at which the cache is cleared
 */
export function memoize<Result>(
  compute: (text: string) => Result,
  maxEntries: number,
): (text: string) => Result {
  const results = new Map<string, { readonly result: Result }>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known.result;
    const result = compute(text);
    if (results.size >= maxEntries) results.clear();
    results.set(text, { result });
    return result;
  };
}
