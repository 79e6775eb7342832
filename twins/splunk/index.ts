/** The log-query twin: Splunk's search jobs and event collector over a log dataset, with SQL on DuckDB underneath. */
import { openDatasetLibrary } from "@offhook/log-store/library/library";
import { defineTwin } from "@offhook/platform/twin/twin";
import { appOperations } from "./api/apps.ts";
import { authOperations } from "./api/auth.ts";
import { configOperations } from "./api/configs.ts";
import { dataModelOperations } from "./api/data-models.ts";
import { exportOperations } from "./api/export.ts";
import { firedAlertOperations } from "./api/fired-alerts.ts";
import { indexOperations } from "./api/indexes.ts";
import { inputOperations } from "./api/inputs-http.ts";
import { jobControlOperations } from "./api/job-control.ts";
import { jobResultOperations } from "./api/job-results.ts";
import { jobSummaryOperations } from "./api/job-summary.ts";
import { jobTimelineOperations } from "./api/job-timeline.ts";
import { jobOperations } from "./api/jobs.ts";
import { messageOperations } from "./api/messages-to-admin.ts";
import { parserOperations } from "./api/parser.ts";
import { propertyOperations } from "./api/properties.ts";
import { receiverOperations } from "./api/receivers.ts";
import { faultStatuses, refusal } from "./api/refusal.ts";
import { roleOperations } from "./api/roles.ts";
import { savedSearchRunOperations } from "./api/saved-search-runs.ts";
import { savedSearchScheduleOperations } from "./api/saved-search-schedule.ts";
import { savedSearchOperations } from "./api/saved-searches.ts";
import { serverOperations } from "./api/server.ts";
import { storagePasswordOperations } from "./api/storage-passwords.ts";
import { timeParserOperations } from "./api/timeparser.ts";
import { typeaheadOperations } from "./api/typeahead.ts";
import { userOperations } from "./api/users.ts";
import { viewOperations } from "./api/views.ts";
import { collectorOperations } from "./collector/operations.ts";
import { logQueryConfig } from "./config.ts";
import { logQueryManual } from "./manual.ts";
import { VERSION } from "./product.ts";
import { startLogQueryTwin } from "./start.ts";
import { SEED_HEC_TOKEN, SEED_PASSWORD, SEED_TOKEN, SEED_USER } from "./world/seed.ts";

export default defineTwin({
  name: "splunk",
  vendor: "Splunk",
  versions: [VERSION],
  cloudHosts: ["*.splunkcloud.com"],
  config: logQueryConfig,
  operations: [
    ...collectorOperations,
    ...authOperations,
    ...serverOperations,
    ...userOperations,
    ...roleOperations,
    ...appOperations,
    ...indexOperations,
    ...inputOperations,
    ...messageOperations,
    ...configOperations,
    ...propertyOperations,
    ...storagePasswordOperations,
    ...viewOperations,
    ...dataModelOperations,
    ...receiverOperations,
    ...exportOperations,
    ...jobOperations,
    ...jobControlOperations,
    ...jobResultOperations,
    ...jobTimelineOperations,
    ...jobSummaryOperations,
    ...parserOperations,
    ...timeParserOperations,
    ...typeaheadOperations,
    ...savedSearchOperations,
    ...savedSearchRunOperations,
    ...savedSearchScheduleOperations,
    ...firedAlertOperations,
  ],
  takesDataset: (options) => openDatasetLibrary(options, "raw"),
  manual: logQueryManual,
  credentials: () => [SEED_PASSWORD, SEED_TOKEN, SEED_HEC_TOKEN],
  secretPathParams: [
    "/services/authentication/httpauth-tokens/:key",
    "/servicesNS/:owner/:app/authentication/httpauth-tokens/:key",
  ],
  secretMembers: [
    "password",
    "password_sha256",
    "sessionKey",
    "passcode",
    "token",
    "clear_password",
    "action.email.auth_password",
    "auth_password",
    "sslPassword",
    "pass4SymmKey",
    "encr_password",
    "oldpassword",
  ],
  database: "splunk",
  faultStatuses,
  refusal,
  start: startLogQueryTwin,
  clientEnvironment: (url) => ({
    SPLUNK_URL: url,
    SPLUNK_USERNAME: SEED_USER,
    SPLUNK_PASSWORD: SEED_PASSWORD,
    SPLUNK_TOKEN: SEED_TOKEN,
    SPLUNK_HEC_TOKEN: SEED_HEC_TOKEN,
  }),
});
