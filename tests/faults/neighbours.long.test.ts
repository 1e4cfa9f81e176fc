import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import type { FaultContext } from './fault.ts';
import { row as stackDust } from './neighbours/stack-dust.row.ts';
import { row as stackHangingReceivers } from './neighbours/stack-hanging-receivers.row.ts';

const closers: (() => Promise<void>)[] = [];
let stack: JourneyStack;

// Both share one stack: neither leaves anything that affects the other.
beforeAll(async () => {
  stack = await journeyStack({ sharesBroker: true });
});
afterAll(() => stack.close());

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

// `npm run faults -- neighbours` checks whether the limits hold; next to other tests everything waits for the processor. Here everything
// must arrive: each creation is answered, each honest payment becomes PAID, each healthy event reaches its receiver.
describe('in its short form, through a whole local stack,', () => {
  test.each([
    { row: stackDust, runs: 200, figures: /creation p99 .* 200 transfers were on chain and recorded/ },
    { row: stackHangingReceivers, runs: 3, figures: /of 20 next to 3 hanging receivers/ },
  ])('the row $row.name completes', async ({ row, runs, figures }) => {
    const { measured } = await row.run({ ...quietly, runs, stack });
    expect(measured.join('\n')).toMatch(figures);
  });
});

const quietly: FaultContext = {
  seed: 1,
  runs: null,
  path: null,
  from: null,
  part: null,
  say: () => undefined,
  onEnd: (close) => void closers.unshift(close),
};
