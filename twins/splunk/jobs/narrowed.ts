/** The events that a search goes on with, of those that it has found. */
import { raw } from "@offhook/log-store/sql";
import { SERVER_NAME } from "../product.ts";
import { limit } from "../spl/relation/order.ts";
import { filter, type Relation } from "../spl/relation/relation.ts";
import { wildcardMatch } from "../spl/relation/wildcards.ts";
import type { JobOptions } from "./job-options.ts";

/** None when other servers are asked for, and no more than those after which the search ends. */
export function narrowed(found: Relation, { servers, finalizeAfter }: JobOptions): Relation {
  const isMeant = servers.some(
    (pattern) => pattern === "local" || wildcardMatch(pattern, SERVER_NAME) !== undefined,
  );
  if (servers.length > 0 && !isMeant) return filter(found, raw("FALSE"));
  return finalizeAfter === 0 ? found : limit(found, finalizeAfter);
}
