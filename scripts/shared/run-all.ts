/** Runs items with limited concurrency. @returns the results in the order of the items */
export async function runAll<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  run: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await run(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return results;
}
