/** The twin's manual for its users. */
import type { TwinManual } from "@offhook/platform/twin/manual";

export const logQueryManual: TwinManual = {
  credentials: [
    {
      id: "splunk.sdk-address",
      text: "Give an SDK the twin's own port (port_url), because an SDK's address has no path: host 127.0.0.1, port 8089 in the shipped environment, scheme https (the SDKs' default) or http. The authority in .offhook/ca.pem signed the certificate for localhost and 127.0.0.1; links and ids carry the address of the request.",
    },
    {
      id: "splunk.accounts",
      text: "Accounts are rows of users, session keys and tokens rows of sessions; a fresh sandbox has the account admin with the password splunk-twin-password and the token splunk-twin-token.",
    },
    {
      id: "splunk.refused-credentials",
      text: "Missing credentials, a wrong password and an unknown key are a 401 in the vendor's words.",
    },
    {
      id: "splunk.roles",
      text: "Roles are rows too: admin, power, user and read_only, whose members search nothing. A missing capability is a 403: give an account another role to see it. Every search finds only the events that its owner's roles allow: members of power and user see no internal index, and a custom role sees no index that it does not name.",
    },
    {
      id: "splunk.collector-tokens",
      text: "Tokens of the event collector are rows of hec_tokens, by their SHA-256; a fresh sandbox has 0f5a9c3e-7b1d-4e62-9a48-c6d2e81b3f70.",
    },
  ],
  repeatedWrites: [
    {
      id: "splunk.saved-again",
      text: "Saving a search under a name that is taken, or starting one with a sid that is taken, is a 409 that changes nothing.",
    },
    {
      id: "splunk.events-again",
      text: "The event collector stores repeated events again, each as an event of its own.",
    },
    {
      id: "splunk.login-again",
      text: "Each login creates a new session key; earlier ones stay valid until they are ended or unused for an hour.",
    },
  ],
  notes: [
    {
      id: "splunk.locations",
      text: "iplocation knows the countries of IPv4 addresses from a table in the twin: for each block of 65,536 addresses the country that most of them are routed in, computed from IPtoASN's public-domain table of June 2026. City, Region, lat and lon are empty, as are the fields that allfields adds; private and IPv6 addresses have no location.",
    },
    {
      id: "splunk.addresses",
      text: "The management API answers below /services and below /servicesNS/{owner}/{app} alike; jobs have both their first and their second version.",
    },
    {
      id: "splunk.jobs",
      text: "Each search is a row of jobs until it is cancelled or its time to live ends on the sandbox's clock; removing the row cancels the search.",
    },
    {
      id: "splunk.job-results",
      text: "A job keeps at most 50000 rows of its result; a job from a snapshot runs again when its results are read.",
    },
    {
      id: "splunk.concurrency",
      text: "10 searches run at a time and 100 wait; any further one is a 503 in the vendor's words. An account may run as many as the highest quota of its roles allows; beyond that a search that its client waits for is a 503, and any other search waits.",
    },
    {
      id: "splunk.rights",
      text: "A job is accessible to its owner and to administrators; shared objects are changed by admin and power. Internal indexes are searched by accounts with a role that allows them, such as admin.",
    },
    {
      id: "splunk.real-time",
      text: "Real-time searches are refused.",
    },
    {
      id: "splunk.arguments",
      text: "An unsupported argument of a search is a 400 that names it; an unknown one is stored with the job, and its search.log says that it has no effect.",
    },
    {
      id: "splunk.get-search",
      text: "A search over results requires a POST. The row restmap/global of conf_stanzas with v1APIBlockGETSearchLaunch off allows GET in the first version.",
    },
    {
      id: "splunk.previews",
      text: "An export whose search takes longer than a second sends previews first, each over more of its newest events; preview=0 turns them off, and the row limits/search of conf_stanzas sets their shortest interval.",
    },
    {
      id: "splunk.exports",
      text: "An export sends all rows, unless max_count, count or offset limit them, at the pace of its client: a slow client holds the search back, and a reset ends the export unfinished.",
    },
    {
      id: "splunk.inactivity",
      text: "auto_cancel and auto_pause count on the sandbox's clock; only requests about that very job reset them.",
    },
    {
      id: "splunk.statements",
      text: "A job's search.log has the SQL statements of its search.",
    },
    {
      id: "splunk.event-fields",
      text: "The fields of an event that the collector stores become columns: the key=value pairs of a text, the members of an object. A new field holds text, and a column of the dataset becomes text with the first value that it cannot hold. An event has its time as _time, whatever the dataset's time field is.",
    },
    {
      id: "splunk.alerts",
      text: "A saved search with a schedule runs when the sandbox's clock reaches its time or is set past it: for the latest of the missed times, or with realtime_schedule=0 for each of the 1,000 latest. Every time is a row of scheduled_runs. Such a run, and one dispatched with trigger_actions, fires its alert when its condition is met and it is not suppressed: with alert.track on, a row of fired_alerts until it expires on the sandbox's clock.",
    },
    {
      id: "splunk.alert-actions",
      text: "The webhook of an alert is posted to this machine only, unless webhook_hosts of the service's config names other hosts. The outcome of each action is a row of alert_actions; an action other than the webhook is not carried out, and its row says so.",
    },
    {
      id: "splunk.unserved-schedule",
      text: "run_on_startup, allow_skew, schedule_window, schedule_priority and dispatchAs are stored without effect: a run starts at its time, as its owner when scheduled, as the caller when dispatched.",
    },
    {
      id: "splunk.unserved-dispatch",
      text: "dispatch.index_earliest, dispatch.index_latest and a dispatch.sample_ratio other than 1 are refused; dispatch.lookups, dispatch.spawn_process and the settings of real-time searches are stored without effect.",
    },
    {
      id: "splunk.data-models",
      text: "Data models are rows, created and shown as JSON at datamodel/model; a calculation may only name another field, any other one is a 400. The commands datamodel and pivot are not supported, and datamodel/pivot is a 404.",
    },
    {
      id: "splunk.restart",
      text: "POST server/control/restart ends session keys, running searches and messages to the administrator, as a restart does. Tokens, results and objects stay, and the response is immediate.",
    },
    {
      id: "splunk.out-of-purpose",
      text: "Inputs other than the event collector's, the KV store and pivot are out of scope: their addresses are a 404 in splunkd's words.",
    },
    {
      id: "splunk.kept-secrets",
      text: "Only the API shows the clear text of collector tokens and of apps' passwords, to authorized accounts. Rows and snapshots have their digests; after loading a snapshot of another process they stay valid, but are no longer shown.",
    },
    {
      id: "splunk.configuration",
      text: "Stanzas of configuration files are rows of conf_stanzas, read and written at properties and configs/conf-*; macros and eventtypes are the rows that searches use. Of the others only inputs/http, limits/http_input, limits/search and restmap/global have an effect.",
    },
    {
      id: "splunk.not-installed",
      text: "Apps are created by name, none is installed from a file; pages are stored and never rendered.",
    },
    {
      id: "splunk.collector-settings",
      text: "Two rows of conf_stanzas configure the event collector, with the vendor's names of settings: inputs/http (disabled, queueSize, backpressureState, headerEnforcementMode, ackRequiredAnyCookie, ackIdleCleanup, maxIdleTime) and limits/http_input (the maximum of channels, and of their stored requests that were not queried yet).",
    },
    {
      id: "splunk.knowledge",
      text: "Macros, lookups, lookup definitions, tags, event types, data models, saved searches and indexes are rows; write them through the control plane, and the next search uses them.",
    },
  ],
};
