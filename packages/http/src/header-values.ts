/**
 * Every value of a header that was sent several times. Node's `headers` keeps only one, or joins them.
 * @param rawHeaders name, value, name, value, … as received.
 * @param name in lower case.
 */
export const headerValues = (rawHeaders: readonly string[], name: string): string[] =>
  rawHeaders.filter((_, position) => position % 2 === 1 && rawHeaders[position - 1]?.toLowerCase() === name);
