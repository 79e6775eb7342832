/** `derivative` and `cumulative_sum`: computed along the buckets of a histogram. */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import { Double } from "../../json/numbers.ts";
import type { Naming } from "../build.ts";
import type { Options } from "../options.ts";
import type { Members } from "../result.ts";
import { readDuration } from "../rounding.ts";
import { text } from "../syntax/members.ts";
import { declaredPipeline, type PipelineDefinition, type PipelineType } from "./definition.ts";
import { bucketValue, readGapPolicy } from "./path.ts";
import {
  gapPolicyMember,
  pathsMember,
  readPrint,
  readSinglePath,
  requirePath,
  simpleValue,
} from "./values.ts";

const DAY_MS = 86_400_000;
/** Average length of a calendar unit. */
const averageMs = lookupTable<number>({
  second: 1_000,
  "1s": 1_000,
  minute: 60_000,
  "1m": 60_000,
  hour: 3_600_000,
  "1h": 3_600_000,
  day: DAY_MS,
  "1d": DAY_MS,
  week: 7 * DAY_MS,
  "1w": 7 * DAY_MS,
  month: 2_629_746_000,
  "1M": 2_629_746_000,
  quarter: 3 * 2_629_746_000,
  "1q": 3 * 2_629_746_000,
  year: 31_556_952_000,
  "1y": 31_556_952_000,
});

export const derivativeType: PipelineType = {
  read: declaredPipeline("derivative", {
    members: {
      buckets_path: pathsMember,
      format: text(),
      gap_policy: gapPolicyMember,
      unit: text((unit) => {
        if (averageMs[unit] === undefined) readDuration(unit, "derivative.unit");
      }),
    },
    check: requirePath,
  }),
  define: defineDerivative,
};

function defineDerivative(naming: Naming, options: Options): PipelineDefinition {
  const path = readSinglePath(naming, options);
  const policy = readGapPolicy(options);
  const print = readPrint(options);
  const unit = options.text("unit");
  const unitMs = unit === undefined ? undefined : (averageMs[unit] ?? readDuration(unit, "derivative.unit"));
  const normalized = (change: number, distance: number): Members => {
    if (unitMs === undefined) return [];
    const value = change / (distance / unitMs);
    const shown = Number.isFinite(value) ? value : 0;
    return [
      ["normalized_value", new Double(shown)],
      ...(Number.isFinite(value) && print ? ([["normalized_value_as_string", print(value)]] as const) : []),
    ];
  };
  return {
    pipeline: {
      kind: "pipeline",
      ...naming,
      parent({ buckets }) {
        const values = buckets.map((bucket) => bucketValue(bucket, path, policy));
        buckets.forEach((bucket, index) => {
          const before = buckets[index - 1];
          const [last, value] = [values[index - 1], values[index]];
          if (!before || last === undefined || value === undefined) return;
          const change = value - last;
          const distance = (bucket.position ?? 0) - (before.position ?? 0);
          const result = simpleValue(naming, change, print, normalized(change, distance));
          const rate = unitMs === undefined ? undefined : change / (distance / unitMs);
          bucket.results.set(naming.name, {
            ...result,
            metricValue: (property) =>
              property === "normalized_value" ? rate : result.metricValue(property),
          });
        });
      },
    },
    paths: [path],
    needs: "histogram",
  };
}

export const cumulativeSumType: PipelineType = {
  read: declaredPipeline("cumulative_sum", {
    members: { buckets_path: pathsMember, format: text() },
    check: requirePath,
  }),
  define: defineCumulativeSum,
};

function defineCumulativeSum(naming: Naming, options: Options): PipelineDefinition {
  const path = readSinglePath(naming, options);
  const print = readPrint(options);
  return {
    pipeline: {
      kind: "pipeline",
      ...naming,
      parent({ buckets }) {
        let sum = 0;
        for (const bucket of buckets) {
          sum += bucketValue(bucket, path, "insert_zeros") ?? 0;
          bucket.results.set(naming.name, simpleValue(naming, sum, print));
        }
      },
    },
    paths: [path],
    needs: "histogram",
  };
}
