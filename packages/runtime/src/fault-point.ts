/** The point at which this process kills or freezes itself. */
let armed: { name: string; signal: 'SIGKILL' | 'SIGSTOP' } | null = null;

/**
 * Called once by `startService` with the FAULT_POINT setting, which is refused in production.
 * @param setting the name of a point at which the process kills itself; or `freeze:` and a name, to stop there once
 *   until SIGCONT.
 */
export function armFaultPoint(setting: string): void {
  const [, freeze, name = setting] = /^(freeze:)?(.*)$/s.exec(setting) ?? [];
  armed = { name, signal: freeze === undefined ? 'SIGKILL' : 'SIGSTOP' };
}

/**
 * A named place where a test can kill the process like a power cut (no handler runs, nothing is flushed), or freeze it
 * like a paused machine. Put one between two steps whose order matters for crash safety. Its cost is one comparison.
 */
export function faultPoint(name: string): void {
  if (armed?.name !== name) return;
  const { signal } = armed;
  armed = null;
  process.kill(process.pid, signal);
  // The signal may reach another thread first. Nothing may run here before the process stops.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}
