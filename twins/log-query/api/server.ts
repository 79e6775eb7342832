/** What the instance says of itself. */
import { BUILD, SERVER_GUID, SERVER_NAME, VERSION } from "../product.ts";
import { JSON_TYPE } from "./messages.ts";
import { route } from "./route.ts";

export const serverOperations = [
  ...route({
    id: "server.info",
    method: "GET",
    path: "/server/info",
    summary: "Say which version and what machine this is.",
    handle() {
      const content = { version: VERSION, build: BUILD, serverName: SERVER_NAME, guid: SERVER_GUID };
      const generator = { build: BUILD, version: VERSION };
      const body = JSON.stringify({ generator, entry: [{ name: "server-info", content }] });
      return { status: 200, headers: { "content-type": JSON_TYPE }, body };
    },
  }),
];
