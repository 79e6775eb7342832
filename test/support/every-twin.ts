/** Every twin of the registry in one sandbox, with rows that fit its world: for rules that hold on all of them. */
import { createHash } from "node:crypto";
import searchTwin from "@offhook/elasticsearch";
import engineTwin from "@offhook/engine";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import postgresTwin from "@offhook/postgres";
import { tables } from "@offhook/postgres/testing/tables";
import splunkTwin from "@offhook/splunk";
import { voiceRuntimeTwinWith } from "@offhook/vapi/definition";
import { playedSessions, silentSpeech } from "@offhook/vapi/testing/voice-runtime";

type Row = Record<string, unknown>;
export type Ask = (method: string, path: string, body?: unknown) => ReturnType<typeof request>;

/** Rows of one twin's world, by what they are good for. */
export interface Sample {
  table: string;
  key: string;
  /** Two rows that can be added. */
  rows: [Row, Row];
  /** A change of such a row that can be made, and one of a bad type. */
  change: Row;
  badChange: Row;
  /** A column that refers to another table: rows to add, and where they fail; absent for events, which refer to nothing. */
  child?: { table: string; key?: string; column: string; row(parent: unknown): Row; change?: Row };
  /** The parent table and its key column. */
  parent?: { table: string; key: string; row: Row };
  /** A table with a column that is no text and may be empty; `make` is the SQL that makes it first. */
  nullable?: { table: string; column: string; empty: Row; full: Row; text: string; make?: string };
}

export interface TwinUnderTest {
  name: string;
  twins: RunningTwins;
  url: string;
  controlUrl: string;
  sample: Sample;
  /** Rows of a table whose columns are declared, where those of the sample are not. */
  declared: Sample;
  /** `/sim` of this twin, with the key. */
  control: Ask;
  /** The vendor API, without credentials. */
  vendor: Ask;
}

export const twinDefinitions = () => [
  engineTwin,
  postgresTwin,
  searchTwin,
  splunkTwin,
  voiceRuntimeTwinWith({ createSession: playedSessions().createSession, embedded: silentSpeech }),
];

export const twinNames = ["elasticsearch", "engine", "postgres", "splunk", "vapi"] as const;

/** Twins whose tables are declared, with columns that refer to one another. */
export const relatedTwinNames = ["engine", "postgres", "splunk", "vapi"] as const;

/** The tables of a sample that refer to one another. */
export function relationOf({ child, parent }: Sample) {
  if (!child || !parent) throw new Error("nothing in this sample refers to anything");
  return { child, parent };
}

export interface EveryTwin {
  twins: RunningTwins;
  of(name: string): TwinUnderTest;
  stop(): Promise<void>;
}

export async function startEveryTwin(): Promise<EveryTwin> {
  const services = twinNames.map((name) => (name === "postgres" ? { name, config: tables } : { name }));
  const twins = await startEnvironment(JSON.stringify({ version: 1, services }), {
    twins: twinDefinitions(),
  });
  const found = new Map(twinNames.map((name) => [name as string, twinUnderTest(twins, name)]));
  return {
    twins,
    of(name) {
      const twin = found.get(name);
      if (!twin) throw new Error(`no twin ${name}`);
      return twin;
    },
    stop: () => twins.stop(),
  };
}

function twinUnderTest(twins: RunningTwins, name: (typeof twinNames)[number]): TwinUnderTest {
  const { url, control_url } = addressesOf(twins, name);
  const json = { "content-type": "application/json", "user-agent": "test" };
  const http = url.startsWith("http") ? url : `${twins.baseUrl}/s/dev/${name}`;
  return {
    name,
    twins,
    url,
    controlUrl: control_url,
    sample: samples[name],
    declared: name === "splunk" ? { ...samples.splunk, ...eventTypes } : samples[name],
    control: (method, path, body) =>
      request(method, `${control_url}/sim${path}`, { headers: { ...json, "x-api-key": twins.apiKey }, body }),
    vendor: (method, path, body) => request(method, `${http}${path}`, { headers: json, body }),
  };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const moment = "2026-01-31T09:00:00.000Z";

/** A call as it is stored. */
const call = {
  id: "00000000-0000-4000-8000-000000000001",
  org_id: "org",
  status: "ended",
  created_at: moment,
  updated_at: moment,
  audio_format: { format: "pcm_s16le", sampleRate: 24_000 },
};

const message = (id: string, more: Row = {}) => ({
  id,
  call_id: call.id,
  position: 0,
  role: "user",
  text: "Hello.",
  ...more,
});

const eventTypes = {
  table: "event_types",
  key: "name",
  rows: [
    { name: "failures", search: "level=error" },
    { name: "é 📞", search: "level=info" },
  ] satisfies [Row, Row],
  change: { search: "level=warn" },
  badChange: { search: 5 },
};

const samples: Record<(typeof twinNames)[number], Sample> = {
  elasticsearch: {
    table: "events",
    key: "_id",
    rows: [
      { _id: "1", message: "disk is full", bytes: 5 },
      { _id: "é 📞", message: "all is well", bytes: 6 },
    ],
    change: { bytes: 7 },
    badChange: { bytes: "many" },
  },
  engine: {
    table: "simulations",
    key: "id",
    rows: [{ id: "s-1" }, { id: "s-2", scenario: "two", metadata: { deep: [1, null, "é"] } }],
    change: { scenario: "changed" },
    badChange: { metadata: "no object" },
    parent: { table: "simulations", key: "id", row: { id: "parent" } },
    child: {
      table: "events",
      column: "simulation_id",
      row: (parent) => ({ id: "e-1", simulation_id: parent, service: "a", event_type: "b", data: {} }),
      change: { simulation_id: "none" },
    },
  },
  postgres: {
    table: "services",
    key: "name",
    rows: [
      { name: "mail", description: "Letters." },
      { name: "é 📞", description: "'quoted' \\ \"twice\"" },
    ],
    change: { description: "changed" },
    badChange: { description: 5 },
    parent: { table: "services", key: "name", row: { name: "parent", description: "p" } },
    child: {
      table: "incidents",
      column: "service",
      row: (parent) => ({ id: "INC-1", service: parent, severity: 1, title: "t" }),
      change: { service: "none" },
    },
    nullable: {
      table: "marks",
      column: "n",
      empty: { id: "empty", n: null, note: "null" },
      full: { id: "full", n: 5, note: null },
      text: "note",
      make: "CREATE TABLE marks (id text PRIMARY KEY, n integer, note text)",
    },
  },
  splunk: {
    table: "events",
    key: "_id",
    rows: [
      { _id: "1", message: "disk is full", bytes: 5 },
      { _id: "é 📞", message: "all is well", bytes: 6 },
    ],
    change: { bytes: 7 },
    badChange: { bytes: "many" },
    parent: { table: "lookups", key: "name", row: { name: "hosts.csv", fields: ["host"] } },
    child: {
      table: "lookup_definitions",
      key: "name",
      column: "filename",
      row: (parent) => ({ name: "hosts", filename: parent }),
      change: { filename: "none" },
    },
    nullable: {
      table: "lookup_definitions",
      column: "max_matches",
      empty: { name: "empty", filename: "hosts.csv", max_matches: null, default_match: "null" },
      full: { name: "full", filename: "hosts.csv", max_matches: 5, default_match: "none" },
      text: "default_match",
    },
  },
  vapi: {
    table: "api_keys",
    key: "id",
    rows: [
      { id: "k-1", key_sha256: sha256("one") },
      { id: "k-2", key_sha256: sha256("two") },
    ],
    change: { key_sha256: sha256("three") },
    badChange: { key_sha256: 5 },
    parent: { table: "calls", key: "id", row: call },
    child: {
      table: "messages",
      column: "call_id",
      row: (parent) => message("m-1", { call_id: parent }),
      change: { call_id: "none" },
    },
    nullable: {
      table: "messages",
      column: "start_ms",
      empty: message("empty", { start_ms: null, name: "null" }),
      full: message("full", { start_ms: 5, name: null }),
      text: "name",
    },
  },
};
