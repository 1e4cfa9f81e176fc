import { humanText } from '../output.ts';
import { sections, table } from '../text.ts';

export type Chain = {
  network: string;
  head: number | null;
  finalized: number | null;
  cursor: number | null;
  lag_blocks: number | null;
  scanned_through: string | null;
  halted_at: string | null;
  endpoints: object[];
};

/** Networks side by side, so that the one that stands still catches the eye; below, the nodes of each. */
export const chainsView = (chains: readonly Chain[]): string =>
  [
    table(chains, [
      ['network', (chain) => chain.network],
      ['head', (chain) => chain.head],
      ['scanned', (chain) => chain.cursor],
      ['lag', (chain) => chain.lag_blocks],
      ['final', (chain) => chain.finalized],
      ['final through', (chain) => chain.scanned_through],
      ['halted', (chain) => chain.halted_at ?? 'no'],
    ]),
    ...chains.map((chain) => sections([[`nodes of ${chain.network}`, humanText(chain.endpoints)]])),
  ].join('\n\n');
