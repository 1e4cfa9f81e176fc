import { expect, test } from '@jest/globals';
import { createLogger } from '@quittance/runtime/logger.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createWalletStates } from '../src/payment/warnings.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

test('wallets viewed together are asked about once, and the answer is shown from the next view on', async () => {
  const asked: [string, string[]][] = [];
  let at = 0;
  const isBlacklisted = createWalletStates(
    {
      ask: (network, addresses) => {
        asked.push([network, addresses]);
        return Promise.resolve(['0xfrozen']);
      },
      logger,
    },
    () => at,
  );
  expect([isBlacklisted('local', '0xfrozen'), isBlacklisted('local', '0xother')]).toEqual([false, false]);
  await eventually(() => expect(isBlacklisted('local', '0xfrozen')).toBe(true));
  expect(isBlacklisted('local', '0xother')).toBe(false);
  expect(asked).toEqual([['local', ['0xfrozen', '0xother']]]);
  at = 30_001;
  expect(isBlacklisted('local', '0xfrozen')).toBe(true);
  await eventually(() => expect(asked).toHaveLength(2));
});

test('when chain-watcher does not answer there is no warning, and it is not asked with every view', async () => {
  let asked = 0;
  const isBlacklisted = createWalletStates(
    {
      ask: () => {
        asked += 1;
        return Promise.reject(new Error('away'));
      },
      logger,
    },
    () => 0,
  );
  expect(isBlacklisted('local', '0xwallet')).toBe(false);
  await eventually(() => expect(asked).toBe(1));
  expect(isBlacklisted('local', '0xwallet')).toBe(false);
  expect(asked).toBe(1);
});
