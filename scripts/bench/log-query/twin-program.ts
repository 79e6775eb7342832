/** The twin under measurement, alone in a process of its own. */
import splunk from "../../../twins/log-query/index.ts";
import { startTwins } from "../../../twins/sandbox/start.ts";
import { answerQuestions } from "../child.ts";
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
