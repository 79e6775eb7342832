/** The tables of campaigns. pg-boss has its own schema beside them. */

/** Schema of the tables, and of nothing else. */
const SCHEMA = "campaign";

/** Statements that create what is missing; safe to run by many processes at once. */
export const CREATE_TABLES = `
SELECT pg_advisory_xact_lock(hashtext('offhook campaign tables'));
CREATE SCHEMA IF NOT EXISTS ${SCHEMA};
CREATE TABLE IF NOT EXISTS campaign.campaigns (
  id text PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  cancelled boolean NOT NULL DEFAULT false,
  baseline text,
  spec jsonb NOT NULL,
  expected_calls bigint NOT NULL,
  -- Calls handed to the queue so far, in the order of callAt().
  enqueued_calls bigint NOT NULL DEFAULT 0,
  kept_bytes bigint NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS campaign.scenarios (
  campaign text NOT NULL REFERENCES campaign.campaigns ON DELETE CASCADE,
  name text NOT NULL,
  text text NOT NULL,
  PRIMARY KEY (campaign, name)
);
CREATE TABLE IF NOT EXISTS campaign.calls (
  campaign text NOT NULL,
  scenario text NOT NULL,
  variant text NOT NULL,
  repeat integer NOT NULL,
  verdict text NOT NULL CHECK (verdict IN ('passed', 'failed', 'error')),
  failures text[] NOT NULL,
  outcome text,
  duration_ms double precision NOT NULL,
  response_ms double precision[] NOT NULL,
  tool_calls text[] NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL,
  worker text NOT NULL,
  attempts integer NOT NULL,
  held_up boolean NOT NULL DEFAULT false,
  PRIMARY KEY (campaign, scenario, variant, repeat)
);
-- A table of an earlier version has no such column. Asked first, since ALTER TABLE waits for every call that is written.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'campaign.calls'::regclass AND attname = 'held_up') THEN
    ALTER TABLE campaign.calls ADD COLUMN held_up boolean NOT NULL DEFAULT false;
  END IF;
END $$;
CREATE TABLE IF NOT EXISTS campaign.kept (
  campaign text NOT NULL,
  scenario text NOT NULL,
  variant text NOT NULL,
  repeat integer NOT NULL,
  report jsonb,
  trace jsonb,
  audio bytea,
  -- What was not kept, and why.
  omitted text[] NOT NULL,
  PRIMARY KEY (campaign, scenario, variant, repeat)
);
ALTER TABLE campaign.kept ALTER COLUMN audio SET STORAGE EXTERNAL;
-- Which worker places which job; a row lasts as long as the attempt.
CREATE TABLE IF NOT EXISTS campaign.claims (
  job uuid PRIMARY KEY,
  queue text NOT NULL,
  worker integer NOT NULL
);
CREATE SEQUENCE IF NOT EXISTS campaign.worker_numbers AS integer CYCLE;
-- For autoscaling: calls without a verdict, of the campaigns that run.
CREATE OR REPLACE VIEW campaign.outstanding AS
  SELECT c.id AS campaign, c.expected_calls - (SELECT count(*) FROM campaign.calls k WHERE k.campaign = c.id) AS calls
    FROM campaign.campaigns c WHERE c.ended_at IS NULL AND NOT c.cancelled;
`;
