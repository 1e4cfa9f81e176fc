/**
 * Milliseconds, to the microsecond, on the clock that all processes of a machine share and that is never set. Only differences
 * have a meaning, also between processes.
 */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;
