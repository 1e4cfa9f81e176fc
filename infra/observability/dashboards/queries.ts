/** How much a counter grows in a second, by labels. */
export const rate = (counter: string, by: string): string => `sum by (${by}) (rate(${counter}[$__rate_interval]))`;

/** How much a counter grew within the interval of one point, by labels: readable where there are few events. */
export const increase = (counter: string, by: string): string =>
  `sum by (${by}) (increase(${counter}[$__rate_interval]))`;

/**
 * The value below which so large a part of a histogram's observations lies, by labels.
 * @param series the histogram's name, with matchers in braces if there are any.
 */
export function quantile(part: number, series: string, by: string): string {
  const [name = '', matchers = ''] = series.split(/(?=\{)/);
  const labels = by === '' ? 'le' : `${by}, le`;
  return `histogram_quantile(${part}, sum by (${labels}) (rate(${name}_bucket${matchers}[$__rate_interval])))`;
}

/** What every replica shows the same of, once. */
export const max = (gauge: string, by = ''): string => (by === '' ? `max(${gauge})` : `max by (${by}) (${gauge})`);
