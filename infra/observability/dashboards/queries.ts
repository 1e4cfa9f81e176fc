/** A counter's increase per second, by labels. */
export const rate = (counter: string, by: string): string => `sum by (${by}) (rate(${counter}[$__rate_interval]))`;

/** A counter's increase within the interval of one point, by labels: readable for rare events. */
export const increase = (counter: string, by: string): string =>
  `sum by (${by}) (increase(${counter}[$__rate_interval]))`;

/**
 * The value below which this part of a histogram's observations is, by labels.
 * @param series the histogram's name, with matchers in braces if there are any.
 */
export function quantile(part: number, series: string, by: string): string {
  const [name = '', matchers = ''] = series.split(/(?=\{)/);
  const labels = by === '' ? 'le' : `${by}, le`;
  return `histogram_quantile(${part}, sum by (${labels}) (rate(${name}_bucket${matchers}[$__rate_interval])))`;
}

/** A value that every replica exposes alike, taken once. */
export const max = (gauge: string, by = ''): string => (by === '' ? `max(${gauge})` : `max by (${by}) (${gauge})`);
