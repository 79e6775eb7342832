/** How fast a measured quantity grows, with what chance allows. */

export interface Point {
  atMs: number;
  value: number;
}

export interface Slope {
  perHour: number;
  /** Half of the 95 % confidence interval. */
  marginPerHour: number;
}

const MS_PER_HOUR = 3_600_000;
/** Fewer independent points make no interval. */
const MIN_INDEPENDENT = 5;

/**
 * The least-squares line. Readings of memory resemble their neighbours, so the number of independent ones is estimated
 * from the residuals' autocorrelation at lag 1: n(1 − r)/(1 + r), after Santer et al. 2000,
 * https://doi.org/10.1029/1999JD901105.
 * @returns `null` with fewer than `MIN_INDEPENDENT` independent points
 */
export function fitSlope(points: readonly Point[]): Slope | null {
  const count = points.length;
  if (count < MIN_INDEPENDENT) return null;
  const meanAt = points.reduce((sum, { atMs }) => sum + atMs, 0) / count;
  const mean = points.reduce((sum, { value }) => sum + value, 0) / count;
  const spread = points.reduce((sum, { atMs }) => sum + (atMs - meanAt) ** 2, 0);
  const slope = points.reduce((sum, { atMs, value }) => sum + (atMs - meanAt) * (value - mean), 0) / spread;
  const residuals = points.map(({ atMs, value }) => value - mean - slope * (atMs - meanAt));
  const squares = residuals.reduce((sum, residual) => sum + residual ** 2, 0);
  const products = residuals
    .slice(1)
    .reduce((sum, residual, index) => sum + residual * (residuals[index] ?? 0), 0);
  const correlation = squares === 0 ? 0 : Math.max(0, products / squares);
  const independent = (count * (1 - correlation)) / (1 + correlation);
  if (independent < MIN_INDEPENDENT) return null;
  const error = Math.sqrt(squares / (independent - 2) / spread);
  return {
    perHour: slope * MS_PER_HOUR,
    marginPerHour: studentT(independent - 2) * error * MS_PER_HOUR,
  };
}

/** Upper 2.5 % point of Student's t, by the expansion around the normal's (Abramowitz and Stegun 26.7.5). */
function studentT(degrees: number): number {
  const z = 1.959964;
  return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2);
}
