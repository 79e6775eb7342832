/** The console: one page, served by the twins' own process below `/console`. It asks only public routes of the control plane. */
import type { ConsolePages } from "@offhook/platform/server/console";
import { answerPage } from "./server/answer.ts";
import { AssetCache } from "./server/assets.ts";

export default createConsole();

/**
 * Loads the page on its first request, so that it costs the start of the twins nothing.
 * @param sources folder that is bundled where no bundled files are in the package; default: the page's
 */
export function createConsole(sources?: string): ConsolePages {
  const assets = new AssetCache(sources);
  return {
    async serve(request) {
      return answerPage(request, await assets.read());
    },
  };
}
