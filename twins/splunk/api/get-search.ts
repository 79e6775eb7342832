/** Searches over results that stand in the address of a GET: the second version takes none, the first when `restmap.conf` lets it. */
import { isOn } from "../conf/values.ts";
import { readStanza } from "../world/stanza.ts";
import type { Call } from "./call.ts";
import { RestError } from "./rest-error.ts";

/** Called for a page that is to be searched. @throws RestError 405 */
export function checkLaunch({ request, twin }: Call): void {
  if (request.method !== "GET") return;
  const { v1APIBlockGETSearchLaunch } = readStanza(twin.tables, "restmap/global");
  if (!request.path.includes("/search/v2/") && !isOn(v1APIBlockGETSearchLaunch)) return;
  throw new RestError(405, [{ type: "FATAL", text: "The method is not allowed." }], { allow: "POST" });
}
