// Runs a program of the project: `node scripts/shared/start.cjs FILE [ARGUMENT …]`. Sources run through tsx.
// Written for any version of Node, so that one that is too old is told so before anything fails that needs a newer one.
const { existsSync } = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { engines } = require("../../package.json");

const least = engines.node.replace(/^>=/, "").split(".").map(Number);
const own = process.versions.node.split(".").map(Number);

if (isOlder(own, least)) {
  console.error(
    `offhook needs Node ${least.join(".")} or newer, and this is ${process.versions.node}: https://nodejs.org has it.`,
  );
  process.exit(1);
}

const [, , file, ...args] = process.argv;
const program = path.resolve(file);
if (!existsSync(program)) {
  const advice = file.startsWith("dist/")
    ? "npm run build makes it"
    : "programs of the project are in scripts, twins and agent";
  console.error(`${file} does not exist: ${advice}.`);
  process.exit(1);
}
process.argv = [process.argv[0], program, ...args];
const loader = file.endsWith(".ts") ? import("tsx") : Promise.resolve();
loader.then(() => import(pathToFileURL(program).href));

function isOlder(version, limit) {
  const at = limit.findIndex((part, index) => part !== (version[index] || 0));
  return at >= 0 && (version[at] || 0) < limit[at];
}
