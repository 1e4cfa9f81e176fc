import { expect, test } from '@jest/globals';
import { id } from 'ethers';
import { addressOf, hashOf } from '@quittance/testkit/chain/samples.ts';
import { DEPRECATE_TOPIC, findDeprecation, tokenEvents } from '../src/chain/transfers.ts';
import { TOKEN, sampleLog, topicOf } from './samples.ts';

const deprecated = sampleLog({ topics: [DEPRECATE_TOPIC], data: topicOf(addressOf(9)) });

test('the topic is that of the event', () => {
  expect(DEPRECATE_TOPIC).toBe(id('Deprecate(address)'));
});

test('a deprecation is found among transfers, with the new contract', () => {
  const found = { transactionId: hashOf(0xabc).slice(2), blockNumber: 7, successor: addressOf(9) };
  expect(findDeprecation(TOKEN, [{ logs: [sampleLog()] }, { logs: [sampleLog(), deprecated] }])).toEqual(found);
  const indexed = { ...deprecated, topics: [DEPRECATE_TOPIC, topicOf(addressOf(9))], data: '0x' };
  expect(findDeprecation(TOKEN, [{ logs: [indexed] }])).toEqual(found);
  expect(findDeprecation(TOKEN, [{ logs: [{ ...deprecated, data: '0x' }] }])).toEqual({ ...found, successor: null });
});

test('a deprecation of another contract does not count', () => {
  const other = { ...deprecated, address: addressOf(5) };
  expect(findDeprecation(TOKEN, [{ logs: [sampleLog(), other] }])).toBeNull();
  expect(tokenEvents({ token: TOKEN }, [sampleLog(), other, deprecated])).toEqual([sampleLog(), deprecated]);
});
