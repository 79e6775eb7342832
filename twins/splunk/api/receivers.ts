/** Receives events as plain text on the management API: `receivers/simple` and `receivers/stream`. */
import type { VendorResponse } from "@offhook/platform/http/operation";
import { textEvents } from "../collector/batch.ts";
import { writableIndexes } from "../collector/operations.ts";
import { DECLARATION, xmlText } from "../output/xml.ts";
import { zoneOf } from "../spl/time/zone-of.ts";
import type { Call } from "./call.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { handlerError, RestError } from "./rest-error.ts";
import { insufficientPermission, may } from "./rights.ts";
import { type RouteDeclaration, route } from "./route.ts";

/** Source type of a text that splunkd cannot classify. */
const UNKNOWN_SOURCETYPE = "unknown-too_small";

/** The stored text, as the response describes it. */
interface Received {
  index: string;
  bytes: number;
  host: string;
  source: string;
  sourcetype: string;
}

async function receive(call: Call, defaultSource: string): Promise<Received> {
  const { request, twin, arguments: given } = call;
  const index = given.text("index") ?? "default";
  const named = index === "default" ? twin.index : index;
  if (!(await writableIndexes(twin)).has(named)) {
    throw new RestError(400, [{ type: "WARN", text: `supplied index '${index}' missing` }]);
  }
  if (given.text("host_regex") !== undefined)
    throw handlerError(400, "host_regex is not served: name the host.");
  const body = request.body.toString("utf8");
  if (body.trim() === "") throw handlerError(400, "empty body");
  const source = given.text("source") ?? defaultSource;
  const received = {
    index,
    bytes: request.body.length,
    host: given.text("host") ?? "127.0.0.1",
    source,
    sourcetype: given.text("sourcetype") ?? UNKNOWN_SOURCETYPE,
  };
  const { host, sourcetype } = received;
  const timeMicros = Math.round(twin.clock.now() * 1000);
  const defaults = { index: named, host, source, sourcetype, timeMicros };
  await twin.writer.write(textEvents(body, defaults, zoneOf(twin.timeZone), "extract"));
  return received;
}

function receivedResponse({ mode }: Call, { index, ...rest }: Received): VendorResponse {
  if (mode === "json") {
    const headers = { "content-type": JSON_TYPE };
    return { status: 200, headers, body: JSON.stringify({ index, ...rest }) };
  }
  const fields = Object.entries({ _index: index, ...rest }).map(
    ([name, value]) =>
      `      <field k='${name}'>\n        <value>\n          <text>${xmlText(String(value))}</text>\n        </value>\n      </field>\n`,
  );
  const body = `${DECLARATION}\n<response>\n  <results>\n    <result>\n${fields.join("")}    </result>\n  </results>\n</response>\n`;
  return { status: 200, headers: { "content-type": XML_TYPE }, body };
}

const receiver: Pick<RouteDeclaration, "method" | "rawBody"> = { method: "POST", rawBody: true };

/** Admits power users and administrators; the refusal names no capability. @throws RestError 403 */
function checkReceiving(call: Call): void {
  if (!may(call, "edit_tcp") && !may(call, "edit_log_alert_event")) throw insufficientPermission();
}

export const receiverOperations = [
  ...route({
    ...receiver,
    id: "receiver.simple",
    path: "/receivers/simple",
    summary: "Store the lines of a text as events.",
    async handle(call) {
      checkReceiving(call);
      return receivedResponse(call, await receive(call, "http-simple"));
    },
  }),
  ...route({
    ...receiver,
    id: "receiver.stream",
    path: "/receivers/stream",
    summary: "Store the lines of a text as events, which may come bit by bit.",
    async handle(call) {
      checkReceiving(call);
      await receive(call, "http-stream");
      return { status: 204 };
    },
  }),
];
