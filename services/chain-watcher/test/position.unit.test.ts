import { expect, test } from '@jest/globals';
import { createLocalChain } from '@quittance/chain-reader/chain/local-chain.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import { hashOf } from '@quittance/testkit/chain/samples.ts';
import { heightsAfter } from '../src/leadership/term.ts';

const head = (number: number) => ({ number, hash: hashOf(number), timestamp: number });
const blockAt = (number: number): Block => ({
  ...head(number),
  ...{ parentHash: hashOf(number - 1), logsBloom: '0x', transactions: [] },
});
const network = { confirmations: 2, finality: 'finalized', finalizedAbove: null } as unknown as ChainNetwork;
const before = {
  ...{ head: 110, finalized: 100, hasNamedFinal: true, final: null, largeFinal: null },
  ...{ finalHeight: 100, largeFinalHeight: 100, confirmingTip: 110 },
};

/** Blocks 100, 105 and 110 are stored, and now 112 and 115: several were read at once each time. */
const after = (finalized: number) =>
  heightsAfter(
    network,
    before,
    createLocalChain([100, 105, 110].map(head)),
    {
      ...{ kind: 'blocks', head: 115, finalized: { height: finalized, isNamed: true } },
      ...{ blocksToStore: [blockAt(112), blockAt(115)], transfers: [], deprecation: null },
    },
    head(115),
  );

test.each([
  [104, { finalized: 100, finalHeight: 100, final: 100 }],
  [105, { finalized: 105, finalHeight: 105, final: 105 }],
  [109, { finalized: 105, finalHeight: 105, final: 105 }],
  [111, { finalized: 110, finalHeight: 110, final: 110 }],
  [114, { finalized: 112, finalHeight: 112, final: 112 }],
  // One more confirmation is needed.
  [115, { finalized: 115, finalHeight: 114, final: 112 }],
  // A node that lags.
  [99, { finalized: 100, finalHeight: 100, final: 100 }],
])('when block %d is called final and not every block is stored, a stored one counts', (called, expected) => {
  const { finalized, finalHeight, final } = after(called);
  expect({ finalized, finalHeight, final: final?.number }).toEqual(expected);
});
