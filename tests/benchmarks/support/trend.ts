/** A straight line through points: its slope, and twice the slope's standard error, within which it may as well be level. */
export type Trend = { slope: number; noise: number };

/** By least squares. Both are NaN for fewer than three points. */
export function trendOf(points: readonly (readonly [x: number, y: number])[]): Trend {
  const count = points.length;
  if (count < 3) return { slope: Number.NaN, noise: Number.NaN };
  const meanX = sum(points.map(([x]) => x)) / count;
  const meanY = sum(points.map(([, y]) => y)) / count;
  const spreadX = sum(points.map(([x]) => (x - meanX) ** 2));
  const slope = sum(points.map(([x, y]) => (x - meanX) * (y - meanY))) / spreadX;
  const left = sum(points.map(([x, y]) => (y - meanY - slope * (x - meanX)) ** 2));
  return { slope, noise: 2 * Math.sqrt(left / (count - 2) / spreadX) };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
