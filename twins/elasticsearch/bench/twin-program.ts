/** The twin under measurement, alone in a process of its own. */

import engine from "@offhook/engine";
import type { TwinQuestions } from "@offhook/log-store/bench/questions";
import { startTwins } from "@offhook/platform/server/start";
import { answerQuestions } from "@offhook/platform/testing/bench/child";
import elasticsearch from "../index.ts";

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
