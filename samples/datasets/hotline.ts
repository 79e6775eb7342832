/** The logs of the incident hotline: a day of four services, with an incident in it. The same bytes on every machine. */
import { logEvents } from "@offhook/log-store/made-logs";

/** The dataset's file, beside this one, and its lines. */
export default { file: "hotline.ndjson.gz", lines: logEvents };
