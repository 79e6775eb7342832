/** Events that are sent to the management API as plain text: `receivers/simple` and `receivers/stream`. */
import type { VendorResponse } from "@offhook/platform/http/operation";
import { textEvents } from "../collector/batch.ts";
import { writableIndexes } from "../collector/operations.ts";
import { DECLARATION, xmlText } from "../output/xml.ts";
import { zoneOf } from "../spl/time/zone-of.ts";
import type { Call } from "./call.ts";
import { JSON_TYPE, XML_TYPE } from "./messages.ts";
import { RestError, refused } from "./rest-error.ts";
import { insufficient, may } from "./rights.ts";
import { type RouteDeclaration, route } from "./route.ts";

/** Of a text from which splunkd learns no source type. */
const UNKNOWN_SOURCETYPE = "unknown-too_small";

/** What was taken, and what it was taken as. */
interface Received {
  index: string;
  bytes: number;
  host: string;
  source: string;
  sourcetype: string;
}

async function receive(call: Call, usualSource: string): Promise<Received> {
  const { request, twin, arguments: given } = call;
  const index = given.text("index") ?? "default";
  const named = index === "default" ? twin.index : index;
  if (!(await writableIndexes(twin)).has(named)) {
    throw new RestError(400, [{ type: "WARN", text: `supplied index '${index}' missing` }]);
  }
  if (given.text("host_regex") !== undefined) throw refused(400, "host_regex is not served: name the host.");
  const body = request.body.toString("utf8");
  if (body.trim() === "") throw refused(400, "empty body");
  const source = given.text("source") ?? usualSource;
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

/** Power users may, users may not; the refusal names no capability. @throws RestError 403 */
function checkReceiving(call: Call): void {
  if (!may(call, "edit_tcp") && !may(call, "edit_log_alert_event")) throw insufficient();
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
