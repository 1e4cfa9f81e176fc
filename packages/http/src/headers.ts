/**
 * Every value of a header that was sent several times. Node's `headers` keeps only one, or joins them.
 * @param rawHeaders name, value, name, value, … as received.
 * @param name in lower case.
 */
export const headerValues = (rawHeaders: readonly string[], name: string): string[] =>
  rawHeaders.filter((_, position) => position % 2 === 1 && rawHeaders[position - 1]?.toLowerCase() === name);

/**
 * In a call between services: how many milliseconds the caller still waits. It is a duration and not a time of day, so
 * that clocks of different machines are not compared. The receiver counts from the request's arrival.
 */
export const TIMEOUT_HEADER = 'x-timeout-ms';
