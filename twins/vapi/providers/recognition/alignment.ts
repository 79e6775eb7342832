/**
 * Dynamic time warping (DTW): how well one utterance matches another when either may be stretched a little. Distances are
 * root-mean-square differences of normalised coefficients: 0 for the same sound, about 1.4 for unrelated ones.
 */
import { COEFFICIENTS, type Features } from "./features.ts";

export interface Alignment {
  /** Mean distance along the best path. */
  distance: number;
  /** Mean distance along the worst third of a second, which exposes a single wrong word. */
  worstStretch: number;
  /** Reference frames that the heard speech covers. */
  covered: number;
}

/** Width of the search band around an even tempo, as a share of the utterance (Sakoe-Chiba band). */
const BAND_SHARE = 0.2;
/** Frames that may be skipped at either end, because the detected onset varies a little … */
const SLACK_FRAMES = 6;
/** … and the cost of each. */
const SKIP_COST = 0.5;
/** Length of a stretch, in frames of both utterances together. */
const STRETCH_FRAMES = 40;
/** Maximum difference in length between heard speech and the beginning of the reference, as a share. */
const OPEN_END_SHARE = 0.25;

/** Aligns both utterances from end to end. */
export function alignWhole(heard: Features, reference: Features): Alignment {
  const tempo = reference.frames / heard.frames;
  const halfBand = BAND_SHARE * Math.max(heard.frames, reference.frames);
  const grid = fill(heard, reference, (frame) => ({ middle: frame * tempo, halfBand }));
  let best: End = { heard: heard.frames, reference: reference.frames, total: Number.POSITIVE_INFINITY };
  for (let skipped = 0; skipped < SLACK_FRAMES; skipped++) {
    for (const [h, r] of [
      [heard.frames - skipped, reference.frames],
      [heard.frames, reference.frames - skipped],
    ] as const) {
      if (h < 1 || r < 1) continue;
      const total = grid.total(h, r) + skipped * SKIP_COST;
      if (total < best.total) best = { heard: h, reference: r, total };
    }
  }
  const distance = best.total / (heard.frames + reference.frames);
  return { distance, worstStretch: worstStretch(grid, best), covered: best.reference };
}

/** Aligns everything that was heard with the beginning of the reference. */
export function alignBeginning(heard: Features, reference: Features): Alignment {
  const grid = fill(heard, reference, (frame) => ({
    middle: frame,
    halfBand: SLACK_FRAMES + OPEN_END_SHARE * frame,
  }));
  let best: End = { heard: heard.frames, reference: 1, total: Number.POSITIVE_INFINITY };
  let distance = Number.POSITIVE_INFINITY;
  for (let covered = 1; covered <= reference.frames; covered++) {
    const total = grid.total(heard.frames, covered);
    if (total / (heard.frames + covered) >= distance) continue;
    distance = total / (heard.frames + covered);
    best = { heard: heard.frames, reference: covered, total };
  }
  return { distance, worstStretch: worstStretch(grid, best), covered: best.reference };
}

/** End of a path, as counts of frames. */
interface End {
  heard: number;
  reference: number;
  total: number;
}

type Band = (heardFrame: number) => { middle: number; halfBand: number };

/** A local copy for the innermost loop: test runners turn every use of an import into a property look-up. */
const SIZE = COEFFICIENTS;

const DIAGONAL = 0;
const HEARD_ONLY = 1;
const REFERENCE_ONLY = 2;

/** For every pair of frames, the cost of the cheapest path to it and the last step of that path. */
class Grid {
  readonly width: number;
  readonly totals: Float32Array;
  readonly costs: Float32Array;
  readonly steps: Uint8Array;

  constructor(heardFrames: number, referenceFrames: number) {
    this.width = referenceFrames + 1;
    const size = (heardFrames + 1) * this.width;
    this.totals = new Float32Array(size).fill(Number.POSITIVE_INFINITY);
    this.costs = new Float32Array(size);
    this.steps = new Uint8Array(size);
    this.totals[0] = 0;
    for (let at = 1; at <= SLACK_FRAMES; at++) {
      if (at <= heardFrames) this.totals[at * this.width] = at * SKIP_COST;
      if (at <= referenceFrames) this.totals[at] = at * SKIP_COST;
    }
  }

  total(heard: number, reference: number): number {
    return this.totals[heard * this.width + reference] ?? Number.POSITIVE_INFINITY;
  }
}

function fill(heard: Features, reference: Features, band: Band): Grid {
  const grid = new Grid(heard.frames, reference.frames);
  const { totals, costs, steps, width } = grid;
  for (let h = 1; h <= heard.frames; h++) {
    const { middle, halfBand } = band(h);
    const last = Math.min(reference.frames, Math.ceil(middle + halfBand));
    for (let r = Math.max(1, Math.floor(middle - halfBand)); r <= last; r++) {
      const cell = h * width + r;
      const cost = frameDistance(heard.values, h - 1, reference.values, r - 1);
      let total = (totals[cell - width - 1] ?? 0) + 2 * cost;
      let step = DIAGONAL;
      const heardOnly = (totals[cell - width] ?? 0) + cost;
      if (heardOnly < total) {
        total = heardOnly;
        step = HEARD_ONLY;
      }
      const referenceOnly = (totals[cell - 1] ?? 0) + cost;
      if (referenceOnly < total) {
        total = referenceOnly;
        step = REFERENCE_ONLY;
      }
      totals[cell] = total;
      costs[cell] = cost;
      steps[cell] = step;
    }
  }
  return grid;
}

function frameDistance(a: Float32Array, aFrame: number, b: Float32Array, bFrame: number): number {
  const aStart = aFrame * SIZE;
  const bStart = bFrame * SIZE;
  let sum = 0;
  for (let index = 0; index < SIZE; index++) {
    const difference = (a[aStart + index] ?? 0) - (b[bStart + index] ?? 0);
    sum += difference * difference;
  }
  return Math.sqrt(sum / SIZE);
}

/** Walks the path backwards with a sliding window. */
function worstStretch(grid: Grid, end: End): number {
  if (end.total === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
  const window: { frames: number; cost: number }[] = [];
  let [frames, cost, worst] = [0, 0, 0];
  let [h, r] = [end.heard, end.reference];
  while (h > 0 && r > 0) {
    const cell = h * grid.width + r;
    const step = grid.steps[cell];
    const weight = step === DIAGONAL ? 2 : 1;
    window.push({ frames: weight, cost: weight * (grid.costs[cell] ?? 0) });
    frames += weight;
    cost += weight * (grid.costs[cell] ?? 0);
    for (let [oldest] = window; oldest && frames - oldest.frames >= STRETCH_FRAMES; [oldest] = window) {
      frames -= oldest.frames;
      cost -= oldest.cost;
      window.shift();
    }
    worst = Math.max(worst, frames >= STRETCH_FRAMES ? cost / frames : 0);
    if (step !== REFERENCE_ONLY) h -= 1;
    if (step !== HEARD_ONLY) r -= 1;
  }
  return worst;
}
