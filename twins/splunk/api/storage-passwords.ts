/** Passwords of apps, shown in clear text to authorized accounts only. */
import type { Entry } from "../output/entry.ts";
import type { StoragePasswordRow } from "../world/conf-tables.ts";
import { ownedKey } from "../world/ownership.ts";
import type { Call, Viewer } from "./call.ts";
import { type ObjectDeclaration, objectRoutes } from "./objects.ts";
import { aclOf, addressOf, keyOfEntry, newOwnership, shareOwned, visibleRows } from "./ownership.ts";
import { handlerError, missingArgument } from "./rest-error.ts";

const PATH = "/storage/passwords";

const passwords = ({ twin }: Viewer) => twin.tables.table("storage_passwords");

const escapeColons = (text: string) => text.replace(/[\\:]/g, (char) => `\\${char}`);
/** The name of a password: realm and user. */
const nameOf = (realm: string, username: string) => `${escapeColons(realm)}:${escapeColons(username)}:`;

function passwordEntry({ twin }: Viewer, row: StoragePasswordRow): Entry {
  return {
    name: row.name,
    path: addressOf(row, PATH, row.name),
    author: row.owner,
    updatedMs: twin.startedMs,
    links: { list: "", _reload: "_reload", edit: "", remove: "" },
    acl: aclOf(row),
    fields: { optional: ["realm"], required: ["password"], wildcard: [] },
    content: {
      // The clear text is unknown when the password came with a snapshot of another process.
      clear_password: twin.secrets.reveal(row.password_sha256) ?? "",
      encr_password: `$7$${Buffer.from(row.password_sha256, "hex").toString("base64")}`,
      password: "********",
      realm: row.realm,
      username: row.username,
    },
  };
}

/** @throws RestError 400 */
function readDigest(call: Call): string {
  const password = call.arguments.text("password");
  if (password === undefined) throw missingArgument("password");
  return call.twin.secrets.remember(password);
}

const storagePasswordCollection: ObjectDeclaration = {
  id: "storage_password",
  title: "passwords",
  path: PATH,
  what: "the passwords that apps keep",
  one: "a password",
  capability: "list_storage_passwords",
  changeCapability: "edit_storage_passwords",
  links: { create: "_new", _reload: "_reload", _acl: "_acl" },
  nameOf: (asked) => (asked.includes(":") ? asked : nameOf("", asked)),
  settings: (name) => name === "password" || name === "realm",
  entries: (viewer) => visibleRows(viewer, passwords(viewer).all()).map((row) => passwordEntry(viewer, row)),
  create(call, username) {
    const realm = call.arguments.get("realm") ?? "";
    const name = nameOf(realm, username);
    const password_sha256 = readDigest(call);
    const ownership = newOwnership(call, `passwords/${name}`);
    if (passwords(call).get(ownedKey({ name, ...ownership }))) {
      throw handlerError(409, `Cannot create credential: realm=${realm}, user=${username} already exists.`);
    }
    passwords(call).insert({
      name,
      realm,
      username,
      password_sha256,
      ...ownership,
    });
    return name;
  },
  update(call, entry) {
    passwords(call).update(keyOfEntry(entry), { password_sha256: readDigest(call) });
  },
  remove(call, entry) {
    passwords(call).remove(keyOfEntry(entry));
  },
  share: (call, entry, sharing) => shareOwned(passwords(call), entry, sharing),
};

export const storagePasswordOperations = objectRoutes(storagePasswordCollection);
