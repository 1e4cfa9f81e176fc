import { describe, expect, test } from '@jest/globals';
import { RpcError } from '../src/rpc/errors.ts';
import {
  DEPRECATE_TOPIC,
  TRANSFER_TOPIC,
  decodeTransfer,
  locateTransfer,
  recipientOf,
  transferFilter,
  findDeprecation,
  tokenEvents,
} from '../src/chain/transfers.ts';
import { addressOf, hashOf } from '@quittance/testkit/chain/samples.ts';
import { TOKEN, sampleLog, sampleReceipt, topicOf } from './samples.ts';
import { id } from 'ethers';

describe('decoding', () => {
  test('a transfer of the token is read with sender, recipient and exact amount', () => {
    expect(decodeTransfer(TOKEN, sampleLog())).toMatchObject({
      from: addressOf(1),
      to: addressOf(2),
      amountUnits: 10_500_000n,
    });
  });

  test('the largest amount a token can move is read exactly', () => {
    const decoded = decodeTransfer(TOKEN, sampleLog({ data: `0x${'f'.repeat(64)}` }));
    expect(decoded?.amountUnits).toBe(2n ** 256n - 1n);
  });

  test('recipientOf() finds the recipient of a transfer, and of no other event', () => {
    expect(recipientOf(TOKEN, sampleLog())).toBe(addressOf(2));
    expect(recipientOf(TOKEN, sampleLog({ address: addressOf(99) }))).toBeNull();
    expect(
      recipientOf(
        TOKEN,
        sampleLog({ topics: [TRANSFER_TOPIC, topicOf(addressOf(1)), hashOf(5).replace('0x0', '0x1')] }),
      ),
    ).toBeNull();
  });

  const [topic, from, to] = [TRANSFER_TOPIC, topicOf(addressOf(1)), topicOf(addressOf(2))];
  test.each([
    ['another contract', { address: addressOf(99) }],
    ['another event', { topics: [hashOf(5), from, to] }],
    ['two topics', { topics: [topic, from] }],
    ['four topics, as of an NFT', { topics: [topic, from, to, hashOf(1)] }],
    ['no topics', { topics: [] }],
    ['a zero amount', { data: hashOf(0) }],
    ['short data', { data: '0x01' }],
    ['long data', { data: `${hashOf(1)}00` }],
    ['no data', { data: '0x' }],
    ['a recipient that is not an address', { topics: [topic, from, `0x01${'0'.repeat(62)}`] }],
  ])('%s is not a transfer', (_, changes) => {
    expect(decodeTransfer(TOKEN, sampleLog(changes))).toBeNull();
  });
});

describe('the position in the receipt', () => {
  const decoded = decodeTransfer(TOKEN, sampleLog())!;

  test('counts every log of the transaction, from 0, and is not the position in the block', () => {
    const receipt = sampleReceipt({
      logs: [sampleLog({ address: addressOf(9), logIndex: 2 }), sampleLog({ logIndex: 3 }), sampleLog({ logIndex: 4 })],
    });
    expect(locateTransfer(decoded, receipt, 1_700_000_007)).toEqual({
      transactionId: hashOf(0xabc).slice(2),
      transactionEventIndex: 2,
      blockNumber: 7,
      blockHash: hashOf(7),
      blockTimestamp: 1_700_000_007,
      from: addressOf(1),
      to: addressOf(2),
      amountUnits: 10_500_000n,
    });
  });

  test('a failed transaction moves nothing, even if it has logs', () => {
    expect(locateTransfer(decoded, sampleReceipt({ succeeded: false }), 1)).toBeNull();
  });

  test.each([
    ['from another block', sampleReceipt({ blockHash: hashOf(8) })],
    ['of another height', sampleReceipt({ blockNumber: 6 })],
    ['without the log', sampleReceipt({ logs: [] })],
    ['with another amount', sampleReceipt({ logs: [sampleLog({ data: hashOf(1) })] })],
    [
      'with another recipient',
      sampleReceipt({ logs: [sampleLog({ topics: [TRANSFER_TOPIC, topicOf(addressOf(1)), topicOf(addressOf(3))] })] }),
    ],
    ['of another contract', sampleReceipt({ logs: [sampleLog({ address: addressOf(9) })] })],
  ])('a receipt %s is refused', (_, receipt) => {
    expect(() => locateTransfer(decoded, receipt, 1)).toThrow(RpcError);
  });
});

test('filtering by recipient pads addresses to the width of a topic', () => {
  const network = { family: 'evm', token: TOKEN } as const;
  expect(transferFilter(network, null)).toEqual({ address: TOKEN, topics: [[TRANSFER_TOPIC, DEPRECATE_TOPIC]] });
  const topics = [TRANSFER_TOPIC, null, [topicOf(addressOf(2))]];
  expect(transferFilter(network, [addressOf(2)])).toEqual({ address: TOKEN, topics });
});

const deprecated = sampleLog({ topics: [DEPRECATE_TOPIC], data: topicOf(addressOf(9)) });

test('the topic of a deprecation is that of its event', () => {
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
