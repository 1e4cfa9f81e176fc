let armed: string | null = null;

/** Called once by `startService` with the FAULT_POINT setting, which production refuses. */
export function armFaultPoint(name: string): void {
  armed = name;
}

/**
 * A named place where a test may kill the process, as a power cut would: no handler runs, nothing is flushed.
 * Put one between two steps whose order crash safety depends on; it costs a comparison.
 */
export function faultPoint(name: string): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
