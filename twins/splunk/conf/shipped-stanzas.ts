/**
 * Default settings: the shipped stanzas that have an effect in the twin.
 * Source: the vendor's files of version 10.2 (`inputs.conf.spec`, `limits.conf`).
 */
import { lookupTable } from "@offhook/platform/base/lookup-table";

/** Settings of a stanza, with values as in a configuration file. */
export type Settings = Readonly<Record<string, string>>;

/** By file and stanza: `limits/http_input`. */
export const shippedStanzas = lookupTable<Settings>({
  "inputs/http": {
    ackIdleCleanup: "true",
    ackRequiredAnyCookie: "AWSELB,AWSALB,AWSALBCORS,AWSELBCORS",
    backpressureState: "disabled",
    busyKeepAliveIdleTimeout: "12",
    dedicatedIoThreads: "2",
    disabled: "0",
    enableSSL: "0",
    headerEnforcementMode: "off",
    index: "default",
    maxIdleTime: "600",
    maxSockets: "0",
    maxThreads: "0",
    port: "8088",
    sslVersions: "*,-ssl2",
    useDeploymentServer: "0",
  },
  "limits/search": { min_preview_period: "1" },
  "restmap/global": { v1APIBlockGETSearchLaunch: "true" },
  "limits/http_input": {
    max_content_length: "838860800",
    max_number_of_ack_channel: "1000000",
    max_number_of_acked_requests_pending_query: "10000000",
    max_number_of_acked_requests_pending_query_per_ack_channel: "1000000",
    max_number_of_tokens: "10000",
    metrics_report_interval: "60",
  },
});
