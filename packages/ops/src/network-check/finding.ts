/** What one question to an endpoint has shown. */
export type Finding = {
  check: string;
  /** `unknown`: it could not be found out, and that says nothing against the endpoint. */
  verdict: 'ok' | 'warning' | 'failed' | 'unknown';
  /** What the endpoint does, in words. */
  found: string;
  /** What follows for the watcher; null where nothing does. */
  meaning: string | null;
};

export const finding = (
  check: string,
  verdict: Finding['verdict'],
  found: string,
  meaning: string | null = null,
): Finding => ({ check, verdict, found, meaning });

/** 250 ms, 3 s, 12 min, 5 h, 41 days. */
export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 120) return `${seconds < 10 ? seconds.toFixed(1).replace(/\.0$/, '') : Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** 1,285,000: figures that people compare. */
export const grouped = (count: number): string => Math.round(count).toLocaleString('en-US');
