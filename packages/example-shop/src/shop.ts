import type { Quittance } from '@quittance/sdk';
import type { Config } from './config.ts';
import type { Database } from './database.ts';

/** What the parts of the shop share. */
export type Shop = {
  config: Config;
  db: Database;
  quittance: Quittance;
  /** One line for the shop's operators. */
  log: (line: string) => void;
};

/** An error as one line. */
export const inOneLine = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).replace(/\s+/g, ' ');
