/** The log-query twin: Splunk's search jobs and event collector over a log dataset, with SQL on DuckDB underneath. */
import { openDatasetLibrary } from "../datasets/library.ts";
import { defineTwin } from "../sandbox/twin.ts";
import { authOperations } from "./api/auth.ts";
import { faultStatuses, refusal } from "./api/refusal.ts";
import { serverOperations } from "./api/server.ts";
import { logQueryConfig } from "./config.ts";
import { logQueryManual } from "./manual.ts";
import { VERSION } from "./product.ts";
import { startLogQueryTwin } from "./start.ts";
import { SEED_PASSWORD, SEED_TOKEN, SEED_USER } from "./world/seed.ts";

export default defineTwin({
  name: "splunk",
  vendor: "Splunk",
  versions: [VERSION],
  cloudHosts: ["*.splunkcloud.com"],
  config: logQueryConfig,
  operations: [...authOperations, ...serverOperations],
  takesDataset: openDatasetLibrary,
  manual: logQueryManual,
  credentials: () => [SEED_PASSWORD, SEED_TOKEN],
  secretPathParams: [
    "/services/authentication/httpauth-tokens/:key",
    "/servicesNS/:owner/:app/authentication/httpauth-tokens/:key",
  ],
  secretMembers: ["password", "sessionKey", "passcode"],
  faultStatuses,
  refusal,
  start: startLogQueryTwin,
  clientEnvironment: (url) => ({
    SPLUNK_URL: url,
    SPLUNK_USERNAME: SEED_USER,
    SPLUNK_PASSWORD: SEED_PASSWORD,
    SPLUNK_TOKEN: SEED_TOKEN,
  }),
});
