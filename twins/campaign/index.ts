/** What the twins serve of campaigns: `/campaigns` and below, for the console and for programs. */
import type { RoutesPackage } from "@offhook/platform/server/project-routes";
import { campaignOperations } from "./routes/operations.ts";
import { CampaignReader } from "./routes/reader.ts";

const routes: RoutesPackage = {
  open() {
    const reader = new CampaignReader();
    return { operations: campaignOperations(reader), close: () => reader.close() };
  },
};

export default routes;
