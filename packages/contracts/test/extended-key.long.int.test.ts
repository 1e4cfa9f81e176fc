import { expect, test } from '@jest/globals';
import { deriveAddresses, parseExtendedKey } from '../src/extended-key.ts';
import { accountKey, byEthers, byScure } from './extended-key-references.ts';

test.each(['evm', 'tron'] as const)(
  'the first 1,000 addresses are those of two other implementations: %s',
  (family) => {
    const xpub = accountKey(family);
    const { key } = parseExtendedKey(xpub);
    const own = deriveAddresses(key!, family, { from: 0, count: 1000 });
    expect(own).toEqual(byEthers(family, 1000));
    expect(own).toEqual(byScure(xpub, family, 1000));
    expect(new Set(own).size).toBe(1000);
  },
);
