/** Counters, gauges and histograms, read as values or as the Prometheus text format. */

type Labels = Record<string, string>;

/** A metric's values, one a set of labels. Those of a histogram's buckets are not cumulative. */
export type MetricValues =
  | { type: "counter" | "gauge"; points: { labels: Labels; value: number }[] }
  | { type: "histogram"; bounds: readonly number[]; points: Distribution[] };

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: MetricValues["type"];
  values(): MetricValues;
  lines(): string[];
}

/** Bucket bounds in seconds for things that take milliseconds to half a minute. */
const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 0.8, 1.2, 1.8, 2.5, 4, 6, 10, 15, 30];

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** A number per set of labels that only grows. */
class Counter implements Metric {
  readonly type = "counter";
  readonly name: string;
  readonly help: string;
  readonly #values = new Map<string, { labels: Labels; value: number }>();

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  add(amount: number, labels: Labels = {}): void {
    const key = labelText(labels);
    const point = this.#values.get(key);
    if (point === undefined) this.#values.set(key, { labels, value: amount });
    else point.value += amount;
  }

  value(labels: Labels = {}): number {
    return this.#values.get(labelText(labels))?.value ?? 0;
  }

  values(): MetricValues {
    return { type: this.type, points: [...this.#values.values()] };
  }

  lines(): string[] {
    return [...this.#values].map(([labels, { value }]) => `${this.name}${labels} ${value}`);
  }
}

/** A number that is looked up when it is asked for. */
export class Gauge implements Metric {
  readonly type: "gauge" | "counter";
  readonly name: string;
  readonly help: string;
  readonly #read: () => number;

  /** @param type a counter for a number that only grows */
  constructor(name: string, help: string, read: () => number, type: Gauge["type"] = "gauge") {
    this.name = name;
    this.help = help;
    this.#read = read;
    this.type = type;
  }

  values(): MetricValues {
    return { type: this.type, points: [{ labels: {}, value: this.#read() }] };
  }

  lines(): string[] {
    return [`${this.name} ${this.#read()}`];
  }
}

interface Distribution {
  labels: Labels;
  /** How many were within each bound and above the one before; those above the last are in none. */
  buckets: number[];
  sum: number;
  count: number;
}

/** How durations are distributed, per set of labels. */
class DurationHistogram implements Metric {
  readonly type = "histogram";
  readonly name: string;
  readonly help: string;
  readonly #distributions = new Map<string, Distribution>();

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  observeMs(durationMs: number, labels: Labels = {}): void {
    const key = labelText(labels);
    let distribution = this.#distributions.get(key);
    if (distribution === undefined) {
      distribution = { labels, buckets: DURATION_BUCKETS.map(() => 0), sum: 0, count: 0 };
      this.#distributions.set(key, distribution);
    }
    const seconds = durationMs / 1000;
    distribution.sum += seconds;
    distribution.count += 1;
    const index = DURATION_BUCKETS.findIndex((bound) => seconds <= bound);
    if (index >= 0) distribution.buckets[index] = (distribution.buckets[index] ?? 0) + 1;
  }

  count(labels: Labels = {}): number {
    return this.#distributions.get(labelText(labels))?.count ?? 0;
  }

  values(): MetricValues {
    return { type: this.type, bounds: DURATION_BUCKETS, points: [...this.#distributions.values()] };
  }

  lines(): string[] {
    return [...this.#distributions.values()].flatMap(({ labels, buckets, sum, count }) => {
      let cumulative = 0;
      const bucketLines = DURATION_BUCKETS.map((bound, index) => {
        cumulative += buckets[index] ?? 0;
        return `${this.name}_bucket${labelText({ ...labels, le: String(bound) })} ${cumulative}`;
      });
      return [
        ...bucketLines,
        `${this.name}_bucket${labelText({ ...labels, le: "+Inf" })} ${count}`,
        `${this.name}_sum${labelText(labels)} ${sum}`,
        `${this.name}_count${labelText(labels)} ${count}`,
      ];
    });
  }
}

function processSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

/** What the agent measures of itself. Label values come from fixed sets and tool names, so their number is bounded. */
export class AgentMetrics {
  readonly calls = new Counter("offhook_calls_total", "Calls that are over, by outcome.");
  readonly refused = new Counter("offhook_calls_refused_total", "Upgrades of /voice refused, by reason.");
  readonly requestsRefused = new Counter(
    "offhook_requests_refused_total",
    "HTTP requests refused before they were read, by reason.",
  );
  readonly webhooksRefused = new Counter(
    "offhook_tool_webhooks_refused_total",
    "Requests of /tool of which nothing was run, by reason.",
  );
  readonly strayErrors = new Counter(
    "offhook_stray_errors_total",
    "Errors that no code caught, by kind and tool.",
  );
  readonly setup = new DurationHistogram(
    "offhook_call_setup_seconds",
    "From the caller's connection to the open call socket.",
  );
  readonly firstAudio = new DurationHistogram(
    "offhook_call_first_audio_seconds",
    "From the caller's connection to the assistant's first audible frame.",
  );
  readonly response = new DurationHistogram(
    "offhook_turn_response_seconds",
    "From the caller's last audible frame to the assistant's first audible frame.",
  );
  readonly tools = new DurationHistogram("offhook_tool_duration_seconds", "Tool calls, by tool and outcome.");
  readonly notEnded = new Counter(
    "offhook_calls_not_ended_total",
    "Calls that may still be open at the runtime because they could not be ended there, by reason.",
  );
  readonly dropped = new Counter(
    "offhook_audio_dropped_bytes_total",
    "Audio dropped because a side did not take it in time, by direction.",
  );
  readonly eventsLost = new Counter(
    "offhook_events_lost_total",
    "Events that did not reach the engine, by reason.",
  );
  readonly workersLost = new Counter(
    "offhook_workers_lost_total",
    "Worker processes that ended unasked and were replaced, by reason.",
  );
  /** Under the names that Prometheus clients of all languages use, without a prefix. */
  readonly #memory = new Gauge("process_resident_memory_bytes", "Resident memory size in bytes.", () =>
    process.memoryUsage.rss(),
  );
  readonly #cpu = new Gauge(
    "process_cpu_seconds_total",
    "Total user and system CPU time spent in seconds.",
    processSeconds,
    "counter",
  );
  readonly #active: Gauge;

  /** @param activeCalls answers how many calls there are at the moment */
  constructor(activeCalls: () => number) {
    this.#active = new Gauge("offhook_calls_active", "Calls at the moment.", activeCalls);
  }

  /** Every metric. */
  all(): readonly Metric[] {
    return [
      this.#active,
      this.calls,
      this.notEnded,
      this.refused,
      this.requestsRefused,
      this.webhooksRefused,
      this.strayErrors,
      this.setup,
      this.firstAudio,
      this.response,
      this.tools,
      this.dropped,
      this.eventsLost,
      this.workersLost,
      this.#memory,
      this.#cpu,
    ];
  }

  /** The Prometheus text format, version 0.0.4. */
  text(): string {
    return this.all()
      .map((metric) =>
        [
          `# HELP ${metric.name} ${metric.help}`,
          `# TYPE ${metric.name} ${metric.type}`,
          ...metric.lines(),
        ].join("\n"),
      )
      .join("\n")
      .concat("\n");
  }
}
