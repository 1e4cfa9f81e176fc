import type { Images } from './images.ts';

/** The export `part` of a file `<name>.part.ts`: one way of running the system on an engine, up to a paid payment. */
export type Part = {
  name: string;
  /** What runs, and what must hold, in plain words. */
  about: string;
  /** @returns the reason if this machine cannot run it, undefined if it ran. @throws Error that says what did not hold. */
  run(context: PartContext): Promise<string | undefined>;
};

export type PartContext = {
  images: Images;
  say: (line: string) => void;
  /** Calls this after the part, newest first, whether it succeeded or not. */
  onEnd: (close: () => Promise<unknown>) => void;
};
