/**
 * Milliseconds, fine to the microsecond, on the one clock that all processes of a machine share and that is never set.
 * Differences mean something, also between processes; the value itself does not.
 */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;
