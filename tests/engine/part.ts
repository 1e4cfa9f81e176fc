import type { Images } from './images.ts';

/** What a file `<name>.part.ts` exports as `part`: one way of running the system on an engine, taken as far as a paid payment. */
export type Part = {
  name: string;
  /** What runs, and what must hold, for people. */
  about: string;
  /** @returns why nothing was done, where this machine cannot; undefined when it was. @throws Error that says what did not hold. */
  run(context: PartContext): Promise<string | undefined>;
};

export type PartContext = {
  images: Images;
  say: (line: string) => void;
  /** Called after the part, newest first, whether it succeeded or not. */
  onEnd: (close: () => Promise<unknown>) => void;
};
