import { join } from 'node:path';
import { chooseByName, loadNamed } from '../support/named-files.ts';
import type { Fault } from './fault.ts';
import type { Row } from './neighbours/row.ts';

export const fault: Fault = {
  name: 'neighbours',
  about:
    'one merchant, wallet, receiver or queue is noisy: how long the others wait meanwhile, row by row (--part <row> for one of them)',
  async run(context) {
    const { part, say, onEnd } = context;
    const all = await loadNamed<Row>(join(import.meta.dirname, 'neighbours'), '.row.ts', 'row');
    const broken: string[] = [];
    for (const row of chooseByName(all, part === null ? [] : [part], 'row')) {
      say(`\n${row.name}: ${row.about}`);
      const closers: (() => Promise<void>)[] = [];
      onEnd(async () => {
        for (const close of closers.splice(0)) await close();
      });
      const result = await row.run({ ...context, onEnd: (close) => closers.unshift(close) });
      for (const close of closers.splice(0)) await close();
      say(`  before: ${row.before}`);
      for (const line of result.measured) say(`  now:    ${line}`);
      broken.push(...result.broken.map((what) => `${row.name}: ${what}`));
    }
    return { broken, lines: [], repeat: part === null ? 'neighbours' : `neighbours --part ${part}` };
  },
};
