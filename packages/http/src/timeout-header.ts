/**
 * In a call between services: how many milliseconds the caller still waits. It is a duration and not a time of day, so
 * that clocks of different machines are not compared. The receiver counts from the request's arrival.
 */
export const TIMEOUT_HEADER = 'x-timeout-ms';
