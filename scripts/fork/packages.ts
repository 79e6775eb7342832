/** Which packages go together. */
import type { Package } from "../shared/packages.ts";

/** What was asked for cannot be taken away; the message says why, and what can. */
export class ForkRefusal extends Error {
  override name = "ForkRefusal";
}

/** Stands for every package. */
export const ALL = "twins";

/**
 * The packages that go when `wanted` go: these, and the libraries that nothing needs any longer.
 * @throws ForkRefusal for a package that is not there, or that another needs
 */
export function packagesToRemove(packages: readonly Package[], wanted: readonly string[]): Package[] {
  if (wanted.includes(ALL)) return [...packages];
  const going = new Set(wanted);
  const removable = packages.filter(({ isRemovable }) => isRemovable).map(({ id }) => id);
  for (const id of wanted) {
    if (!removable.includes(id)) {
      throw new ForkRefusal(
        `${id} cannot be taken away by itself; there are: ${[...removable, ALL].join(", ")}`,
      );
    }
  }
  const isNeeded = ({ id }: Package) =>
    packages.some((other) => !going.has(other.id) && other.needs.includes(id));
  for (const library of packages.filter(({ isLibrary }) => isLibrary)) {
    const wasNeeded = packages.some(({ needs }) => needs.includes(library.id));
    if (wasNeeded && !isNeeded(library)) going.add(library.id);
  }
  const removed = packages.filter(({ id }) => going.has(id));
  for (const each of removed) {
    const user = packages.find((other) => !going.has(other.id) && other.needs.includes(each.id));
    if (user) throw new ForkRefusal(`${each.id} is needed by ${user.id}: take both away, or neither`);
  }
  return removed;
}
