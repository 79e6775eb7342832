/** What some settings of a saved search may be. What is not here may be anything. */
import { periodMs } from "./period.ts";

type Rule = (value: string) => boolean;

const oneOf =
  (...values: readonly string[]): Rule =>
  (value) =>
    values.includes(value.toLowerCase());
const wholeNumber: Rule = (value) => /^\d{1,15}$/.test(value);
const period: Rule = (value) => periodMs(value) !== undefined;

const comparators = ["greater than", "less than", "equal to", "not equal to", "rises by", "drops by"];

const rules: Readonly<Record<string, Rule>> = {
  "alert.expires": period,
  "alert.severity": oneOf("1", "2", "3", "4", "5", "6"),
  "alert.suppress.period": period,
  alert_comparator: oneOf(...comparators, "rises by perc", "drops by perc"),
  alert_type: oneOf("always", "custom", "number of events", "number of hosts", "number of sources"),
  "dispatch.buckets": wholeNumber,
  "dispatch.max_count": wholeNumber,
  "dispatch.max_time": wholeNumber,
  "dispatch.ttl": (value) => /^\d{1,9}p?$/.test(value),
  max_concurrent: wholeNumber,
};

/** Whether a setting may be this. Nothing is what it is when nobody says otherwise. */
export function isSettingValue(name: string, value: string): boolean {
  const given = value.trim();
  return given === "" || (rules[name]?.(given) ?? true);
}
