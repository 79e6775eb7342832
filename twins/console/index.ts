/** The console: one page, served by the twins' own process below `/console`. It asks only public routes of the control plane. */
import type { ConsolePages } from "@offhook/platform/server/console";
import { answerPage } from "./server/answer.ts";
import { type Assets, loadAssets } from "./server/assets.ts";

export default createConsole();

/** Loads the page on its first request, so that it costs the start of the twins nothing. */
function createConsole(): ConsolePages {
  let assets: Promise<Assets> | undefined;
  return {
    async serve(request) {
      assets ??= loadAssets();
      return answerPage(request, await assets);
    },
  };
}
