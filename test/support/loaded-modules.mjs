/**
 * Writes the address of every module that a program loads into the file that LOADED_MODULES names, a line each:
 * `NODE_OPTIONS="--import …/loaded-modules.mjs"`.
 */
import { appendFileSync } from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

// Hooks have a thread of their own, which loads this module, too.
if (isMainThread) register(import.meta.url);

export function load(url, context, next) {
  appendFileSync(process.env.LOADED_MODULES, `${url}\n`);
  return next(url, context);
}
