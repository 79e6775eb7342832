/** Questions for whole values. */
import type { Facts } from "@offhook/log-store/bench/facts";
import { frequentValueByHand, pageByHand, rareValueByHand, readScoredPage, search } from "./hits.ts";
import type { Question } from "./question.ts";

const hosts = ["checkout-1", "payments-2", "search-4", "identity-1"];
const patterns = [
  { field: "url.path", column: "path", pattern: "/internal/*captures", like: "/internal/%captures" },
  { field: "url.path", column: "path", pattern: "/api/*/pay", like: "/api/%/pay" },
  { field: "log.logger", column: "logger", pattern: "com.shop.s?arch.*", like: "com.shop.s_arch.%" },
  { field: "host.name", column: "host", pattern: "*-3", like: "%-3" },
];

const hourly = Array.from({ length: 6 }, (_, index) => ({
  from: new Date(Date.UTC(2026, 0, 30, 12 + index * 2)).toISOString(),
  to: new Date(Date.UTC(2026, 0, 30, 13 + index * 2)).toISOString(),
}));

export function exactQuestions({ events, traces }: Facts): Question[] {
  return [
    {
      name: "term, one event",
      withinMs: 20,
      variants: traces.map((trace) =>
        search(
          { query: { term: { "trace.id": trace } } },
          (ask) => rareValueByHand(ask, "trace", trace, events),
          readScoredPage,
        ),
      ),
    },
    {
      name: "term, a tenth of all",
      variants: hosts.map((host) =>
        search(
          { query: { term: { "host.name": host } } },
          (ask) => frequentValueByHand(ask, "host", host, events),
          readScoredPage,
        ),
      ),
    },
    {
      name: "terms + range",
      withinMs: 20,
      variants: hourly.map(({ from, to }) =>
        search(
          {
            query: {
              bool: {
                filter: [
                  { terms: { "service.name": ["checkout", "payments"] } },
                  { range: { "http.response.status_code": { gte: 400 } } },
                  { range: { "@timestamp": { gte: from, lt: to } } },
                ],
              },
            },
          },
          (ask) =>
            pageByHand(ask, {
              condition: `service IN ('checkout', 'payments') AND status >= 400
                AND happened >= CAST(? AS TIMESTAMP) AND happened < CAST(? AS TIMESTAMP)`,
              values: [from, to],
            }),
        ),
      ),
    },
    {
      name: "wildcard",
      variants: patterns.map(({ field, column, pattern, like }) =>
        search({ query: { wildcard: { [field]: { value: pattern } } } }, (ask) =>
          pageByHand(ask, { condition: `${column} LIKE ?`, values: [like] }),
        ),
      ),
    },
    {
      name: "sort + page",
      variants: ["error", "warn"].map((level) =>
        search(
          {
            query: { term: { "log.level": level } },
            sort: [{ "event.duration": "desc" }],
            from: 100,
            size: 20,
          },
          (ask) =>
            pageByHand(ask, {
              condition: "level = ?",
              values: [level],
              order: "duration DESC",
              offset: 100,
              size: 20,
            }),
        ),
      ),
    },
  ];
}
