/** Questions that are answered by groups of events. */
import { z } from "zod";
import { search } from "./hits.ts";
import type { Question } from "./question.ts";

const bucket = z.object({ key: z.union([z.string(), z.number()]), doc_count: z.number() });
const buckets = z.object({ buckets: z.array(bucket) });
const groups = z.object({ aggregations: z.object({ groups: buckets }) });
const nested = z.object({
  aggregations: z.object({
    groups: z.object({
      buckets: z.array(
        bucket.extend({
          hours: z.object({
            buckets: z.array(bucket.extend({ duration: z.object({ value: z.number().nullable() }) })),
          }),
        }),
      ),
    }),
  }),
});
const distinct = z.object({ aggregations: z.object({ distinct: z.object({ value: z.number() }) }) });
const table = z.object({ values: z.array(z.array(z.union([z.string(), z.number(), z.null()]))) });

const keyed = [
  { field: "host.name", column: "host" },
  { field: "url.path", column: "path" },
  { field: "log.logger", column: "logger" },
];
const intervals = [
  { interval: "10m", span: "10 minutes" },
  { interval: "30m", span: "30 minutes" },
  { interval: "1h", span: "1 hour" },
];
const levels = ["error", "warn"];

export const groupQuestions: readonly Question[] = [
  {
    name: "terms aggregation",
    variants: keyed.map(({ field, column }) =>
      search(
        { size: 0, aggs: { groups: { terms: { field } } } },
        (ask) => ask(`SELECT ${column}, count(*) FROM events GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`),
        readGroups,
      ),
    ),
  },
  {
    name: "date_histogram",
    variants: intervals.map(({ interval, span }) =>
      search(
        { size: 0, aggs: { groups: { date_histogram: { field: "@timestamp", fixed_interval: interval } } } },
        (ask) =>
          ask(
            `SELECT epoch_ms(time_bucket(INTERVAL '${span}', happened)) AS bucket, count(*) FROM events GROUP BY 1 ORDER BY 1`,
          ),
        readGroups,
      ),
    ),
  },
  {
    name: "terms > date_histogram > avg",
    variants: [
      search(
        {
          size: 0,
          aggs: {
            groups: {
              terms: { field: "service.name" },
              aggs: {
                hours: {
                  date_histogram: { field: "@timestamp", calendar_interval: "hour" },
                  aggs: { duration: { avg: { field: "event.duration" } } },
                },
              },
            },
          },
        },
        (ask) =>
          ask(
            `SELECT service, epoch_ms(date_trunc('hour', happened)) AS hour, count(*), avg(duration)
             FROM events GROUP BY 1, 2 ORDER BY sum(count(*)) OVER (PARTITION BY service) DESC, 1, 2`,
          ),
        (body) =>
          nested
            .parse(body)
            .aggregations.groups.buckets.flatMap(({ key, hours }) =>
              hours.buckets.map((hour) => [key, hour.key, hour.doc_count, hour.duration.value]),
            ),
      ),
    ],
  },
  {
    name: "cardinality of as many as there are events",
    variants: [
      search(
        { size: 0, aggs: { distinct: { cardinality: { field: "trace.id" } } } },
        (ask) => ask("SELECT count(DISTINCT trace) FROM events"),
        (body) => [[distinct.parse(body).aggregations.distinct.value]],
      ),
    ],
  },
  {
    name: "ES|QL STATS",
    variants: levels.map((level) => ({
      path: "/_query",
      body: {
        query: `FROM logs | WHERE log.level == "${level}" | STATS events = COUNT(*), duration = AVG(event.duration) BY service.name | SORT service.name`,
      },
      read: (body) => table.parse(body).values,
      byHand: (ask) =>
        ask(
          "SELECT count(*), avg(duration), service FROM events WHERE level = ? GROUP BY service ORDER BY service",
          [level],
        ),
    })),
  },
];

function readGroups(body: unknown) {
  return groups.parse(body).aggregations.groups.buckets.map(({ key, doc_count }) => [key, doc_count]);
}
