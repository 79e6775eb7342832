/** Responses with messages. */
import type { VendorResponse } from "@offhook/platform/http/operation";
import { DECLARATION, xmlAttribute, xmlText } from "../output/xml.ts";
import type { OutputMode } from "./output-mode.ts";
import type { RestMessage } from "./rest-error.ts";

export const JSON_TYPE = "application/json; charset=UTF-8";
export const XML_TYPE = "text/xml; charset=UTF-8";

export function messagesResponse(
  status: number,
  messages: readonly RestMessage[],
  mode: OutputMode,
): VendorResponse {
  if (mode.startsWith("json")) {
    const body = JSON.stringify({ messages: messages.map(({ type, code, text }) => ({ type, code, text })) });
    return { status, headers: { "content-type": JSON_TYPE }, body };
  }
  const lines = messages.map(({ type, code, text }) => {
    const attribute = code === undefined ? "" : ` code="${xmlAttribute(code)}"`;
    return `    <msg type="${type}"${attribute}>${xmlText(text)}</msg>\n`;
  });
  const body = `${DECLARATION}\n<response>\n  <messages>\n${lines.join("")}  </messages>\n</response>\n`;
  return { status, headers: { "content-type": XML_TYPE }, body };
}

/** A response of names and values: `<response><sid>…</sid></response>`, `{"sid": "…"}`. */
export function fieldsResponse(
  status: number,
  fields: Readonly<Record<string, string>>,
  mode: OutputMode,
): VendorResponse {
  if (mode.startsWith("json")) {
    return { status, headers: { "content-type": JSON_TYPE }, body: JSON.stringify(fields) };
  }
  const lines = Object.entries(fields).map(([name, value]) => `  <${name}>${xmlText(value)}</${name}>\n`);
  const body = `${DECLARATION}\n<response>\n${lines.join("")}</response>\n`;
  return { status, headers: { "content-type": XML_TYPE }, body };
}
