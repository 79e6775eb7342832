/** Messages to the administrator. None of them requests a restart, since the twin never needs one. */
import type { Entry } from "../output/entry.ts";
import { isoTime } from "../output/timestamp.ts";
import { SERVER_NAME } from "../product.ts";
import type { MessageRow } from "../world/conf-tables.ts";
import { systemAcl } from "./acl.ts";
import type { Viewer } from "./call.ts";
import { segmentOf } from "./name-segment.ts";
import { type ObjectDeclaration, objectRoutes } from "./objects.ts";
import { handlerError, missingArgument } from "./rest-error.ts";

const severities: readonly string[] = ["info", "warn", "error"];

const messages = ({ twin }: Viewer) => twin.tables.table("messages");

function messageEntry({ twin }: Viewer, row: MessageRow): Entry {
  const createdMs = Date.parse(row.created_at);
  return {
    name: row.name,
    path: `/services/messages/${segmentOf(row.name)}`,
    author: "system",
    updatedMs: createdMs,
    links: { list: "", remove: "" },
    acl: { ...systemAcl, removable: true },
    content: {
      capabilities: [],
      help: "",
      message: row.value,
      [row.name]: row.value,
      roles: [],
      server: SERVER_NAME,
      severity: row.severity,
      timeCreated_epochSecs: Math.floor(createdMs / 1000),
      timeCreated_iso: isoTime(createdMs, twin.timeZone),
    },
  };
}

export const messageCollection: ObjectDeclaration = {
  id: "message",
  title: "messages",
  path: "/messages",
  what: "the messages to the administrator",
  one: "a message",
  changeCapability: "edit_messages",
  links: { create: "_new" },
  settings: (name) => ["value", "severity", "capability", "role", "help"].includes(name),
  entries: (viewer) =>
    messages(viewer)
      .all()
      .map((row) => messageEntry(viewer, row)),
  create(call, name) {
    const value = call.arguments.text("value");
    const severity = call.arguments.text("severity") ?? "info";
    if (value === undefined) throw missingArgument("value");
    if (severity !== "info" && severity !== "warn" && severity !== "error") {
      throw handlerError(400, `Argument "severity" must be one of: ${severities.join(", ")}.`);
    }
    messages(call).remove(name);
    const created_at = new Date(call.twin.clock.now()).toISOString();
    messages(call).insert({ name, value, severity, created_at });
    return name;
  },
  remove(call, { name }) {
    messages(call).remove(name);
  },
};

export const messageOperations = objectRoutes(messageCollection);
