/** Merges a partial document into a document. */
import { type ExactJson, NumberText } from "../json/read.ts";

type Members = Map<string, ExactJson>;

export interface Merged {
  document: Members;
  changed: boolean;
}

/** Merges objects member by member; any other value, arrays included, replaces the old one. */
export function merge(document: Members, part: Members): Merged {
  const merged = new Map(document);
  let changed = false;
  for (const [name, value] of part) {
    const old = merged.get(name);
    if (old instanceof Map && value instanceof Map) {
      const inner = merge(old, value);
      if (!inner.changed) continue;
      merged.set(name, inner.document);
      changed = true;
    } else if (old === undefined || !equal(old, value)) {
      merged.set(name, value);
      changed = true;
    }
  }
  return { document: merged, changed };
}

function equal(a: ExactJson, b: ExactJson): boolean {
  if (a instanceof NumberText) return b instanceof NumberText && a.text === b.text;
  if (a instanceof Map) {
    if (!(b instanceof Map) || a.size !== b.size) return false;
    return [...a].every(([name, value]) => {
      const other = b.get(name);
      return other !== undefined && equal(value, other);
    });
  }
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equal(item, b[index] ?? null));
  }
  return a === b;
}
