/** Adds up the metrics of several processes, each in the Prometheus text format. */

interface Family {
  help: string;
  type: string;
  /** Values by name and labels. */
  values: Map<string, number>;
}

/**
 * The sum of metrics, sample by sample: right for counters, for the cumulative buckets of histograms, and for gauges
 * that count.
 * @param living texts of processes that run
 * @param gone texts of processes that are gone: their counters must not be lost, or a rate over them would jump; their
 * gauges are over
 */
export function sumMetrics(living: readonly string[], gone: readonly string[] = []): string {
  const families = new Map<string, Family>();
  for (const text of living) addText(families, text, () => true);
  for (const text of gone) addText(families, text, ({ type }) => type !== "gauge");
  return [...families]
    .map(([name, { help, type, values }]) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...[...values].map(([sample, value]) => `${sample} ${value}`),
      ].join("\n"),
    )
    .join("\n")
    .concat("\n");
}

function addText(families: Map<string, Family>, text: string, isAdded: (family: Family) => boolean): void {
  let family: Family = { help: "", type: "untyped", values: new Map() };
  for (const line of text.split("\n")) {
    const header = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (header !== null) {
      const [, kind, name = "", value = ""] = header;
      family = families.get(name) ?? { help: "", type: "untyped", values: new Map() };
      families.set(name, family);
      if (kind === "HELP") family.help = value;
      else family.type = value;
      continue;
    }
    // A label's value may contain spaces, the sample's own value does not.
    const space = line.lastIndexOf(" ");
    if (space <= 0 || !isAdded(family)) continue;
    const sample = line.slice(0, space);
    family.values.set(sample, (family.values.get(sample) ?? 0) + Number(line.slice(space + 1)));
  }
}
