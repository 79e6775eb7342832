/** Runs once before the tests of the console, in whatever number of processes they run. */
import { findChromium, NO_CHROMIUM } from "./chromium.ts";

export default function setup(): void {
  if (findChromium() === undefined) process.stderr.write(`\n${NO_CHROMIUM}\n\n`);
}
