import { Client } from "@elastic/elasticsearch";
import { z } from "zod";
import { defineTool } from "./tool.ts";

const MINUTE_MS = 60_000;
const MAX_KINDS = 3;

const environment = z.object({
  ELASTICSEARCH_URL: z.url({
    protocol: /^https?$/,
    error: "the http:// or https:// address of Elasticsearch",
  }),
  ELASTICSEARCH_API_KEY: z.string().optional(),
  /** Indices, aliases or data streams that hold the logs. */
  ELASTICSEARCH_INDEX: z.string().default("logs*"),
});
type Environment = z.output<typeof environment>;

/** A client keeps its connections, so each agent has one. */
const clients = new WeakMap<Readonly<Environment>, Client>();

interface Kind {
  key: string;
  doc_count: number;
  first: { value_as_string: string };
  example: {
    hits: { hits: { _source: { error?: { message?: string }; service?: { version?: string } } }[] };
  };
}

interface Aggregations {
  errors: { doc_count: number; kinds: { buckets: Kind[] } };
}

/** Counts from the newest event in the logs, not from now, so that older logs work too. */
export default defineTool({
  name: "search_logs",
  description:
    "Tells what is failing in a service: how many errors its logs hold, of which kinds, since when, and in which release.",
  parameters: z.object({
    service: z.string().min(1).max(100).describe("Name of the service, for example checkout"),
    minutes: z
      .number()
      .int()
      .min(1)
      .max(24 * 60)
      .default(60)
      .describe("How far to look back from the newest log line"),
  }),
  environment,
  async run({ service, minutes }, { environment, signal }) {
    const client = clientFor(environment);
    const index = environment.ELASTICSEARCH_INDEX;
    const name = service.trim().toLowerCase();
    const serviceFilter = { term: { "service.name": name } };
    const newest = await client.search<{ "@timestamp": string }>(
      { index, size: 1, query: serviceFilter, sort: [{ "@timestamp": "desc" }], _source: ["@timestamp"] },
      { signal },
    );
    const last = newest.hits.hits[0]?._source?.["@timestamp"];
    if (last === undefined) throw new Error(await explainUnknownService(client, index, name, signal));
    const from = new Date(Date.parse(last) - minutes * MINUTE_MS).toISOString();
    const { hits, aggregations } = await client.search<never, Aggregations>(
      {
        index,
        size: 0,
        track_total_hits: true,
        query: { bool: { filter: [serviceFilter, { range: { "@timestamp": { gte: from, lte: last } } }] } },
        aggs: { errors: { filter: { term: { "log.level": "error" } }, aggs: { kinds } } },
      },
      { signal },
    );
    const errors = aggregations?.errors;
    return {
      service: name,
      from,
      to: last,
      events: typeof hits.total === "object" ? hits.total.value : hits.total,
      errors: errors?.doc_count ?? 0,
      kinds: errors?.kinds.buckets.map(describeKind) ?? [],
    };
  },
});

const kinds = {
  terms: { field: "error.type", size: MAX_KINDS },
  aggs: {
    first: { min: { field: "@timestamp" } },
    example: { top_hits: { size: 1, _source: ["error.message", "service.version"] } },
  },
};

function describeKind({ key, doc_count, first, example }: Kind) {
  const source = example.hits.hits[0]?._source;
  return {
    error: key,
    count: doc_count,
    since: first.value_as_string,
    message: source?.error?.message,
    release: source?.service?.version,
  };
}

function clientFor(environment: Readonly<Environment>): Client {
  const known = clients.get(environment);
  if (known) return known;
  const { ELASTICSEARCH_URL: node, ELASTICSEARCH_API_KEY: apiKey } = environment;
  const client = new Client({ node, ...(apiKey === undefined ? {} : { auth: { apiKey } }), maxRetries: 2 });
  clients.set(environment, client);
  return client;
}

async function explainUnknownService(
  client: Client,
  index: string,
  service: string,
  signal: AbortSignal,
): Promise<string> {
  const { aggregations } = await client.search<never, { services: { buckets: { key: string }[] } }>(
    {
      index,
      size: 0,
      aggs: { services: { terms: { field: "service.name", size: 20, order: { _key: "asc" } } } },
    },
    { signal },
  );
  const known = aggregations?.services.buckets.map(({ key }) => key) ?? [];
  return `the logs hold nothing of a service ${service}; they hold ${known.join(", ") || "nothing at all"}`;
}
