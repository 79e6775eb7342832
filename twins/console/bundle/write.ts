/** Writes the bundled page into the folder of a package that is being packed: `write.ts FOLDER`. */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { SOURCES } from "../server/assets.ts";
import { bundlePage } from "./bundle.ts";

const [dist = "."] = process.argv.slice(2);
const folder = path.join(dist, "server", "packed");
await mkdir(folder, { recursive: true });
for (const [name, body] of await bundlePage(SOURCES)) await writeFile(path.join(folder, name), body);
