/** The twin under measurement, alone in a process of its own. */

import { startTwins } from "@offhook/platform/server/start";
import { answerQuestions } from "@offhook/platform/testing/bench/child";
import splunk from "../index.ts";
import type { SplTwinQuestions } from "./programs.ts";

answerQuestions<SplTwinQuestions>({
  start: async ({ environmentFile, datasetFolder }) => {
    const twins = await startTwins({ environmentFile, datasetFolder, twins: [splunk] });
    return { baseUrl: twins.baseUrl, apiKey: twins.apiKey };
  },

  memory: async () => ({
    rssBytes: process.memoryUsage.rss(),
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }),
});
