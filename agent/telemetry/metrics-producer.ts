/** The agent's metrics for OTLP, read when they are exported: the same names, labels and bounds as `/metrics`. */
import { type HrTime, ValueType } from "@opentelemetry/api";
import { millisToHrTime } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { AgentMetrics, Metric } from "../metrics.ts";

export class MetricsProducer implements MetricProducer {
  readonly #metrics: AgentMetrics;
  readonly #resource: Resource;
  readonly #startTime = millisToHrTime(Date.now());

  constructor(metrics: AgentMetrics, resource: Resource) {
    this.#metrics = metrics;
    this.#resource = resource;
  }

  async collect(): Promise<CollectionResult> {
    const endTime = millisToHrTime(Date.now());
    const metrics = this.#metrics
      .all()
      .map((metric) => dataOf(metric, { startTime: this.#startTime, endTime }))
      .filter(({ dataPoints }) => dataPoints.length > 0);
    const scopeMetrics = [{ scope: { name: "offhook" }, metrics }];
    return { resourceMetrics: { resource: this.#resource, scopeMetrics }, errors: [] };
  }
}

function dataOf(metric: Metric, span: { startTime: HrTime; endTime: HrTime }): MetricData {
  const values = metric.values();
  const descriptor = {
    name: metric.name,
    description: metric.help,
    unit: unitOf(metric.name),
    valueType: ValueType.DOUBLE,
  };
  const aggregationTemporality = AggregationTemporality.CUMULATIVE;
  if (values.type === "histogram") {
    const dataPoints = values.points.map(({ labels, buckets, sum, count }) => {
      const above = count - buckets.reduce((total, one) => total + one, 0);
      const value = {
        buckets: { boundaries: [...values.bounds], counts: [...buckets, above] },
        sum,
        count,
      };
      return { ...span, attributes: labels, value };
    });
    return { descriptor, aggregationTemporality, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = values.points.map(({ labels, value }) => ({ ...span, attributes: labels, value }));
  return values.type === "gauge"
    ? { descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints }
    : { descriptor, aggregationTemporality, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
}

/** The unit that a name ends in, in UCUM. */
function unitOf(name: string): string {
  if (/_seconds$/.test(name)) return "s";
  return /_bytes(_total)?$/.test(name) ? "By" : "1";
}
