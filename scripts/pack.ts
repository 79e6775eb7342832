/** `npm run pack`: the packages of `twins/` as tarballs that run without this repository. */
import path from "node:path";
import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { packPackages } from "./pack/packages.ts";
import { PROJECT } from "./shared/folders.ts";

const DEFAULT_FOLDER = ".offhook/packages";
const USAGE = `npm run pack -- [DIR]

  DIR     where the tarballs are written (default: ${DEFAULT_FOLDER})
  --help

Each tarball is a package of twins/: compiled, with type declarations, without tests. The working tree is not touched.`;

function main(): void {
  const given = readArguments(USAGE, {});
  if (given === undefined) {
    console.log(USAGE);
    return;
  }
  const [folder = path.join(PROJECT, DEFAULT_FOLDER), ...others] = given.positionals;
  if (others.length > 0) throw new UsageError(`one folder, not ${given.positionals.length}\n\n${USAGE}`);
  for (const file of packPackages(PROJECT, path.resolve(folder))) {
    console.log(path.relative(process.cwd(), file));
  }
}

try {
  main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
