/** `splunk_server=`: the twin is the only server there is. */
import { SERVER_NAME } from "../../product.ts";
import { isLike } from "../relation/wildcards.ts";

/** Whether a name, which can have wildcards, means this server. */
export function isThisServer(name: string): boolean {
  return name.toLowerCase() === "local" || isLike(SERVER_NAME, name);
}
