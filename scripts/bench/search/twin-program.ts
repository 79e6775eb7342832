/** The twin under measurement, alone in a process of its own. */

import engine from "../../../twins/engine/index.ts";
import { startTwins } from "../../../twins/sandbox/start.ts";
import elasticsearch from "../../../twins/search/index.ts";
import { answerQuestions } from "../child.ts";
import type { TwinQuestions } from "./questions.ts";

answerQuestions<TwinQuestions>({
  start: async ({ environmentFile, datasetFolder }) => {
    const twins = await startTwins({ environmentFile, datasetFolder, twins: [engine, elasticsearch] });
    return { baseUrl: twins.baseUrl, apiKey: twins.apiKey };
  },

  memory: async () => ({
    rssBytes: process.memoryUsage.rss(),
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }),
});
