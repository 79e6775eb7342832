/** Finds the Chromium of this machine. Nothing downloads one: the tests take what is installed. */
import { accessSync, constants } from "node:fs";
import path from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/** Where installers put it on systems whose programs are not on the PATH. */
const USUAL_PLACES = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

const REMEDY = "Install one (Debian: apt-get install chromium), or name one in CHROMIUM_PATH.";

/** What is missing without a Chromium, and how to get one. */
export const NO_CHROMIUM = `NO CHROMIUM ON THIS MACHINE: the console's tests are SKIPPED. ${REMEDY}`;

/**
 * The browser that CHROMIUM_PATH names, else one of the PATH or of the usual places; `undefined` where there is none.
 * @throws Error when CHROMIUM_PATH names no program
 */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const { CHROMIUM_PATH: named, PATH = "" } = environment;
  if (named) {
    if (isProgram(named)) return named;
    throw new Error(`CHROMIUM_PATH names ${named}, which is no program`);
  }
  const folders = PATH.split(path.delimiter).filter((folder) => folder !== "");
  const candidates = folders.flatMap((folder) => NAMES.map((name) => path.join(folder, name)));
  return [...candidates, ...USUAL_PLACES].find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Nothing that asks the network for anything but what the page asks. */
const ARGUMENTS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts the Chromium of this machine, without a window. @throws Error where there is none, saying how to get one */
export async function launchChromium(furtherArguments: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(`There is no Chromium on this machine. ${REMEDY}`);
  return chromium.launch({ executablePath, args: [...ARGUMENTS, ...furtherArguments] });
}
