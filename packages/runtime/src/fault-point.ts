/** Where this process kills itself, or freezes. */
let armed: { name: string; signal: 'SIGKILL' | 'SIGSTOP' } | null = null;

/**
 * Called once by `startService` with the FAULT_POINT setting, which production refuses.
 * @param setting a point's name, at which the process kills itself; or `freeze:` and a name, where it stops once, until SIGCONT.
 */
export function armFaultPoint(setting: string): void {
  const [, freeze, name = setting] = /^(freeze:)?(.*)$/s.exec(setting) ?? [];
  armed = { name, signal: freeze === undefined ? 'SIGKILL' : 'SIGSTOP' };
}

/**
 * A named place where a test may kill the process, as a power cut would: no handler runs, nothing is flushed. Or freeze it, as a
 * machine that is paused. Put one between two steps whose order crash safety depends on; it costs a comparison.
 */
export function faultPoint(name: string): void {
  if (armed?.name !== name) return;
  const { signal } = armed;
  armed = null;
  process.kill(process.pid, signal);
  // The signal may reach another thread first; nothing must run here before the process stands still.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}
