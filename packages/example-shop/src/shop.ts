import type { Quittance } from '@quittance/sdk';
import type { Config } from './config.ts';
import type { Database } from './database.ts';

/** What the parts of the shop work with. */
export type Shop = {
  config: Config;
  db: Database;
  quittance: Quittance;
  /** One line for the people who run it. */
  log: (line: string) => void;
};

/** An error as one line. */
export const inOneLine = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).replace(/\s+/g, ' ');
