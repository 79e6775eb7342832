/** What is the same on every twin, where the specification leaves it open: one sentence each, proved on every twin. */
import { MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES } from "../files/file-store.ts";
import { MAX_STREAMS } from "../http/event-stream.ts";
import { changeLogLimits, MAX_ROW_BYTES } from "../journal/change-log.ts";
import { defaultJournalLimits, MAX_BODY_BYTES } from "../journal/journal.ts";
import type { ManualSentence } from "../twin/manual.ts";
import { MAX_TRACED_ROWS } from "../world/traced-change.ts";

const { vendor, control, refused } = defaultJournalLimits;

export const commonManual: readonly ManualSentence[] = [
  {
    id: "refusals.shape",
    text: 'The control plane refuses with {"error": {"code", "message", "problems"}}; problems lists everything that is wrong, not the first thing.',
  },
  {
    id: "pages.size",
    text: "A page has 100 entries unless limit says otherwise; limit is at most 1000. Both limit and offset are digits alone. Every page reports total, limit and offset.",
  },
  {
    id: "rows.filter",
    text: "A read of rows compares columns with the query parameters of their names; null stands for no value, except in a column of text.",
  },
  {
    id: "rows.select",
    text: "Rows to change or remove are selected by exactly one of key (a value, or an object when the key has several columns) and where (an object of columns and values); or changed as {data: {table: [rows]}}, each row with its key and the columns that change, and removed by entity_type and the filters of a read in the query.",
  },
  {
    id: "rows.no-match",
    text: "A change or removal that matches no row is answered with 404; a row that data names and that is not there, with 422.",
  },
  { id: "rows.key", text: "The key of a row cannot be changed; remove the row and add another." },
  {
    id: "rows.whole",
    text: "A write of rows is checked as a whole, and stored as a whole or refused with 422 and nothing stored.",
  },
  {
    id: "rows.again",
    text: "Adding a row again, with the same key, is refused with 422 and changes nothing.",
  },
  {
    id: "snapshot.exact",
    text: "A snapshot, or its tables, given to a reset as data, brings back exactly that state, files included, however large it is; a table that data leaves out is empty afterwards.",
  },
  {
    id: "snapshot.hash",
    text: 'A snapshot taken with {"content_hash": true} has the SHA-256 of its tables; equal states have equal hashes.',
  },
  {
    id: "reset.one",
    text: "A reset takes one of profile and data, a snapshot as the body itself, or nothing for the state at start; both, or any other key, is a 422 before any change.",
  },
  {
    id: "difference.reset",
    text: "A difference lists the rows added, changed and removed since the start or the last reset, which may be one to given data; a twin that cannot compare says why with 422, and tables with too many written rows are named in uncompared, with how often their rows were written.",
  },
  { id: "reset.files", text: "A reset to the start or to a profile removes the files." },
  {
    id: "reset.keeps",
    text: "A reset keeps the journal, the clock and the registered callback destination.",
  },
  {
    id: "clock.shared",
    text: "The clock is that of the whole sandbox: set on one twin, it is set on all, and a return to live time returns all.",
  },
  {
    id: "faults.statuses",
    text: "A fault of effect status has one of fault_statuses; another is answered with 422, and nothing is armed.",
  },
  {
    id: "faults.templates",
    text: "Each fault template can be armed as it is; there are some for all operations, and more for the one that the query names.",
  },
  {
    id: "faults.reset",
    text: "A reset removes the faults of the twin; a snapshot holds none, and none hits the control plane.",
  },
  {
    id: "files.body",
    text: "A file is uploaded as the body itself, with its name in the query and its type in the content-type header, or as a multipart form, whose files are kept under their own names, all of them or none; a file without a name gets one, which the answer says.",
  },
  {
    id: "files.limits",
    text: `A file has at most ${MAX_FILE_BYTES} bytes, all files of a twin ${MAX_TOTAL_BYTES}, and there are at most ${MAX_FILES}; more is answered with 413.`,
  },
  {
    id: "files.names",
    text: "A file's name has at most 200 bytes and no slash, backslash or control character.",
  },
  {
    id: "files.again",
    text: "Uploading a second file of the same name is answered with 409, and the first stays.",
  },
  {
    id: "files.table",
    text: "Files are listed as rows of the table files (name, type, size, sha256, created_at); of a twin that has a table files of its own, sim_files.",
  },
  {
    id: "client.again",
    text: "Registering a second callback destination puts it in the place of the first.",
  },
  {
    id: "client.secret",
    text: "The callback destination is shown without the values of its headers and of its query, and the journal keeps neither.",
  },
  {
    id: "client.none",
    text: "Reading or removing a callback destination when none is registered is answered with 404; a probe of none with reachable false and outcome not_registered.",
  },
  {
    id: "client.probe",
    text: "A probe sends GET with the registered headers, follows no redirect, waits 5 seconds at most, and says what happened: answered, dns_failure, refused, unreachable, tls_error, timeout, connection_lost or not_http. Any HTTP status counts as answered, and what answered is reachable.",
  },
  {
    id: "journal.bounds",
    text: `The journal keeps the newest ${vendor.entries} requests of the vendor tier in ${vendor.bytes} bytes, and ${control.entries} of the control tier in ${control.bytes} bytes; dropped says how many were let go.`,
  },
  {
    id: "journal.refused",
    text: `Requests that the control plane refuses for their key are in the control tier, the newest ${refused.entries} of them: method, path, operation and status, without body, headers and the values of the query.`,
  },
  {
    id: "journal.bodies",
    text: `Bodies are kept up to ${MAX_BODY_BYTES} bytes, streamed ones included, and marked when cut.`,
  },
  {
    id: "journal.since",
    text: "since is a sequence number (requests after it) or an ISO time (requests received at it or later, by the machine's clock); status is a number or a class such as 5xx; path is compared without the query, and * in it is any text.",
  },
  {
    id: "journal.one",
    text: "One request is read whole by its seq; one that was let go, or never was, is a 404.",
  },
  {
    id: "journal.sandbox",
    text: "The requests to all twins of a sandbox are read as one list of summaries, in the order of the machine's time; its since and until belong to the range, its text is found as it is written in path, query, bodies and notes, and the sql of a summary is cut at 2000 characters.",
  },
  {
    id: "changes.bounds",
    text: `The newest ${changeLogLimits.entries} changes of a sandbox's worlds are kept, in ${changeLogLimits.bytes} bytes: the first ${MAX_TRACED_ROWS} rows of a write, and the number of the others; a reset is one change, and columns that make a row larger than ${MAX_ROW_BYTES} bytes are named and left out.`,
  },
  {
    id: "watch.sandbox",
    text: `One stream of Server-Sent Events carries the requests to all twins of a sandbox, each once it is answered, and the changes of their worlds; at most ${MAX_STREAMS} are open, and one whose reader lags behind ends with overflow.`,
  },
  {
    id: "journal.secrets",
    text: "Credentials are masked in the journal wherever they stand: those the twin is started with and keys that npm run twins has made always, others once they have come in a header made for them.",
  },
];
