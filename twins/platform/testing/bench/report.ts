/** What a bench reports, and how it is shown. */
import { availableParallelism, cpus, loadavg } from "node:os";

export interface BenchOptions {
  size: "quick" | "full";
  progress(line: string): void;
}

export type Bench = (options: BenchOptions) => Promise<Report>;

/** One figure, next to that of a minimal reference program measured at the same time on the same machine. */
export interface Figure {
  name: string;
  unit: string;
  floor: number | null;
  measured: number | null;
  /** What the aim is about: the difference, the ratio, or the measured value itself. */
  value: number | null;
  aim?: { kind: "at-most" | "at-least"; limit: number };
  passed?: boolean;
}

export interface Report {
  bench: string;
  size: "quick" | "full";
  machine: Machine;
  durationMs: number;
  figures: Figure[];
  notes: string[];
}

export interface Machine {
  node: string;
  platform: string;
  cpu: string;
  cores: number;
  /** Runnable processes over the last minute, before the bench: above zero, others shared the machine. */
  loadBefore: number;
}

export function describeMachine(): Machine {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    loadBefore: loadavg()[0] ?? 0,
  };
}

export function figure(given: Omit<Figure, "passed">): Figure {
  if (!given.aim || given.value === null) return given;
  const { kind, limit } = given.aim;
  return { ...given, passed: kind === "at-most" ? given.value <= limit : given.value >= limit };
}

const headings = ["figure", "unit", "floor", "measured", "value", "aim", ""];

export function tableOf(report: Report): string {
  const rows = report.figures.map((row) => [
    row.name,
    row.unit,
    shown(row.floor),
    shown(row.measured),
    shown(row.value),
    row.aim ? `${row.aim.kind === "at-most" ? "≤" : "≥"} ${row.aim.limit}` : "",
    row.passed === undefined ? "" : row.passed ? "pass" : "FAIL",
  ]);
  const widths = headings.map((heading, i) =>
    Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => (i < 2 || i > 4 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  const { machine } = report;
  return [
    `bench ${report.bench} (${report.size}, ${(report.durationMs / 1000).toFixed(0)} s): Node ${machine.node}, ${machine.platform}, ` +
      `${machine.cores} × ${machine.cpu}, load before ${machine.loadBefore.toFixed(1)}`,
    "",
    line(headings),
    line(widths.map((width) => "-".repeat(width))),
    ...rows.map(line),
    "",
    ...report.notes,
  ].join("\n");
}

function shown(value: number | null): string {
  if (value === null) return "";
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1);
}
