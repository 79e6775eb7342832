/** How fast a measured quantity grows, with what chance allows. */

export interface Point {
  atMs: number;
  value: number;
}

export interface Slope {
  perHour: number;
  /** Half of the 95 % confidence interval; as if the points were independent, so too narrow for a slow wave. */
  marginPerHour: number;
}

const MS_PER_HOUR = 3_600_000;
/** Two-sided 95 % of the normal distribution, which Student's t is near to from 30 points on. */
const Z_95 = 1.96;

/** The least-squares line. @throws RangeError with fewer than three points */
export function fitSlope(points: readonly Point[]): Slope {
  if (points.length < 3) throw new RangeError(`a slope needs 3 points at least, not ${points.length}`);
  const mean = (of: (point: Point) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [meanAt, meanValue] = [mean((point) => point.atMs), mean((point) => point.value)];
  const sum = (of: (point: Point) => number) => points.reduce((total, point) => total + of(point), 0);
  const spread = sum((point) => (point.atMs - meanAt) ** 2);
  const slope = sum((point) => (point.atMs - meanAt) * (point.value - meanValue)) / spread;
  const residual = sum((point) => (point.value - meanValue - slope * (point.atMs - meanAt)) ** 2);
  const error = Math.sqrt(residual / (points.length - 2) / spread);
  return { perHour: slope * MS_PER_HOUR, marginPerHour: Z_95 * error * MS_PER_HOUR };
}
