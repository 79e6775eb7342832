/** How the log-query twin behaves, for who drives it. */
import type { TwinManual } from "@offhook/platform/twin/manual";

export const logQueryManual: TwinManual = {
  credentials: [
    {
      id: "splunk.sdk-address",
      text: "An SDK is given the twin's own port (port_url), for its address has no path: host 127.0.0.1, port 8089 of the shipped environment, scheme https as it is by default, or http. The certificate for localhost and 127.0.0.1 is of the authority in .offhook/ca.pem; links and ids carry the address that was asked.",
    },
    {
      id: "splunk.accounts",
      text: "Accounts are rows of users, and session keys and tokens rows of sessions; a fresh sandbox has the account admin with the password splunk-twin-password, and its token splunk-twin-token.",
    },
    {
      id: "splunk.refused-credentials",
      text: "No credentials, a wrong password or a key that is unknown is a 401 in the vendor's words.",
    },
    {
      id: "splunk.roles",
      text: "Roles are rows too: admin, power, user and read_only, whose members search nothing. What a role lacks is a 403: give an account another role to see it. A search finds the events that its owner's roles allow, however it asks for them: members of power and user see no internal index, and a role of one's own sees none that it does not name.",
    },
    {
      id: "splunk.collector-tokens",
      text: "Tokens of the event collector are rows of hec_tokens, by their SHA-256; a fresh sandbox has 0f5a9c3e-7b1d-4e62-9a48-c6d2e81b3f70.",
    },
  ],
  repeatedWrites: [
    {
      id: "splunk.saved-again",
      text: "Saving a search under a name that is taken, or starting one under a sid that is taken, is a 409 that changes nothing.",
    },
    {
      id: "splunk.events-again",
      text: "Events that are sent to the event collector again are stored again, each as an event of its own.",
    },
    {
      id: "splunk.login-again",
      text: "Each login gives a session key of its own; those given before stay good until they are ended or an hour passes without use.",
    },
  ],
  notes: [
    {
      id: "splunk.locations",
      text: "iplocation knows the countries of IPv4 addresses, by a table that comes with the twin: of each 65,536 addresses the country that most of them are routed in, made of IPtoASN's public-domain table of June 2026. City, Region, lat and lon are empty, and so are the fields that allfields adds; addresses of private networks and of IPv6 have no location.",
    },
    {
      id: "splunk.addresses",
      text: "The management API answers below /services and below /servicesNS/{owner}/{app} alike, and jobs under their first and their second version.",
    },
    {
      id: "splunk.jobs",
      text: "Each search is a row of jobs, until it is cancelled or its time to live is over by the sandbox's clock; removing the row cancels the search.",
    },
    {
      id: "splunk.job-results",
      text: "A job keeps at most 50000 rows of its result; one that came with a snapshot is searched again when its results are asked for.",
    },
    {
      id: "splunk.concurrency",
      text: "10 searches run at a time and 100 wait for their turn; more are a 503 in the vendor's words. Of these an account has as many as the broadest of its roles allows; beyond that a search that its client waits for is a 503, and any other waits.",
    },
    {
      id: "splunk.rights",
      text: "A job is its owner's and the administrators'; what is shared is changed by admin and power. Internal indexes are searched by who has a role that allows them, such as admin.",
    },
    {
      id: "splunk.real-time",
      text: "Real-time searches are refused.",
    },
    {
      id: "splunk.arguments",
      text: "An argument of a search that is not served is a 400 that names it; one that is unknown is kept with the job, and its search.log says that it has no effect.",
    },
    {
      id: "splunk.get-search",
      text: "A search over results is asked for with a POST. The row restmap/global of conf_stanzas with v1APIBlockGETSearchLaunch off lets the first version's GET.",
    },
    {
      id: "splunk.previews",
      text: "An export whose search takes longer than a second sends previews first, each the search over more of its newest events; preview=0 keeps them out, and the row limits/search of conf_stanzas says how often they may come.",
    },
    {
      id: "splunk.exports",
      text: "An export sends all rows, unless max_count, count or offset say otherwise, as its client takes them: a slow client holds the search, and a reset ends it unfinished.",
    },
    {
      id: "splunk.inactivity",
      text: "auto_cancel and auto_pause count the sandbox's clock; what counts as a question is one about that very job.",
    },
    {
      id: "splunk.statements",
      text: "The statements that a search ran as are in its search.log.",
    },
    {
      id: "splunk.event-fields",
      text: "What the collector stores has its fields as columns from then on: the pairs key=value of a text, the members of an object. A new field holds text, and a column of the dataset becomes text with the first value that it cannot hold. An event has its time as _time, whatever the dataset calls its own.",
    },
    {
      id: "splunk.alerts",
      text: "A saved search with a schedule runs when the sandbox's clock comes to its time, or is set past it: for the latest of the times, or with realtime_schedule=0 for each of the 1,000 latest. Every time is a row of scheduled_runs. Such a run, and one that is dispatched with trigger_actions, fires its alert when its condition holds and it is not held back: a row of fired_alerts where alert.track is on, until it expires by the sandbox's clock.",
    },
    {
      id: "splunk.alert-actions",
      text: "The webhook of an alert is posted, to this machine alone unless webhook_hosts of the service's config names more. What became of an action is a row of alert_actions; any other than the webhook is not carried out, which its row says.",
    },
    {
      id: "splunk.unserved-schedule",
      text: "run_on_startup, allow_skew, schedule_window, schedule_priority and dispatchAs are kept without effect: a run begins at its time, by its schedule in its owner's name, dispatched in that of who asks.",
    },
    {
      id: "splunk.unserved-dispatch",
      text: "dispatch.index_earliest, dispatch.index_latest and a dispatch.sample_ratio other than 1 are refused; dispatch.lookups, dispatch.spawn_process and what is for real-time searches are kept without effect.",
    },
    {
      id: "splunk.data-models",
      text: "Data models are rows, made and shown as JSON at datamodel/model; a calculation is taken when it names another field, and any other is a 400. The commands datamodel and pivot are not served, and datamodel/pivot is a 404.",
    },
    {
      id: "splunk.restart",
      text: "POST server/control/restart ends what a restart ends: session keys, searches at work and messages to the administrator. Tokens, results and objects stay, and it answers at once.",
    },
    {
      id: "splunk.out-of-purpose",
      text: "Inputs other than the event collector's, the KV store and pivot are out of its purpose: their addresses are a 404 in splunkd's words.",
    },
    {
      id: "splunk.kept-secrets",
      text: "Tokens of the event collector and passwords that apps keep are shown in clear by the API alone, to who may see them. Rows and snapshots have their digests; after a snapshot of another process they are good, and no longer shown.",
    },
    {
      id: "splunk.configuration",
      text: "Stanzas of configuration files are rows of conf_stanzas, read and written at properties and configs/conf-*; macros and eventtypes are the rows that searches go by. Of the others only inputs/http, limits/http_input, limits/search and restmap/global have an effect.",
    },
    {
      id: "splunk.not-installed",
      text: "Apps are made by their name, and none is installed from a file; pages are kept and not shown.",
    },
    {
      id: "splunk.collector-settings",
      text: "The event collector goes by two rows of conf_stanzas, under the vendor's names of settings: inputs/http (disabled, queueSize, backpressureState, headerEnforcementMode, ackRequiredAnyCookie, ackIdleCleanup, maxIdleTime) and limits/http_input (how many channels, and how many requests of them, wait for being asked about).",
    },
    {
      id: "splunk.knowledge",
      text: "Macros, lookups, lookup definitions, tags, event types, data models, saved searches and indexes are rows, written through the control plane and seen by the next search.",
    },
  ],
};
