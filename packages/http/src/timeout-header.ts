/**
 * In a call between services: for how many milliseconds the caller goes on waiting. A duration and no time of day, so that no two
 * machines' clocks are compared; the receiver counts from its arrival.
 */
export const TIMEOUT_HEADER = 'x-timeout-ms';
