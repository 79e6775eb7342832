/** `splunk_server=`: the twin is the only server. */
import { SERVER_NAME } from "../../product.ts";
import { isLike } from "../relation/wildcards.ts";

/** Whether a pattern matches this server. */
export function isThisServer(name: string): boolean {
  return name.toLowerCase() === "local" || isLike(SERVER_NAME, name);
}
