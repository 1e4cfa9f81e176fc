/** The export `fault` of a file `<name>.fault.ts`: causes a fault and checks what must hold. */
export type Fault = {
  name: string;
  /** What fails, and what must hold, in plain words. */
  about: string;
  /** @throws when it could not run. A broken guarantee is a result, not an error. */
  run(context: FaultContext): Promise<FaultResult>;
};

export type FaultContext = {
  /** Decides every random choice, so that the same number repeats the run. */
  seed: number;
  /** The size of the run, in the fault's own unit; null for the default. */
  runs: number | null;
  /** The place of a failure in an earlier run, from that run's `repeat`; null for a complete run. */
  path: string | null;
  /** The only row or part to run, of a fault that has several; null for all. */
  part: string | null;
  /** The revision of an earlier version; null for the default. */
  from: string | null;
  say: (line: string) => void;
  /** Calls this after the fault, newest first, whether it succeeded or not. */
  onEnd: (close: () => Promise<void>) => void;
};

export type FaultResult = {
  /** What did not hold, each with everything needed to understand it. Empty when everything held. */
  broken: string[];
  /** What was done and how often, so that an empty run does not look like a good one. */
  lines: string[];
  /** Arguments after `npm run faults --` that repeat the failure. Default: those of the whole run. */
  repeat?: string;
  /** The reason if this machine cannot run it; then nothing was checked. */
  skipped?: string;
};
