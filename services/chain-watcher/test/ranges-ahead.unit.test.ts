import { expect, test } from '@jest/globals';
import type { FinalRange } from '@quittance/chain-reader/chain/catch-up.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { createRangesAhead } from '../src/follow/poller.ts';
import type { Term } from '../src/leadership/term.ts';

const range = { from: 11, to: 20 } as FinalRange;

/** @param read what the endpoints answer. */
function rangesAhead(read: () => Promise<FinalRange>, mayBegin = true) {
  let asked = 0;
  const endpoints = {
    mayBegin: () => mayBegin,
    ask: () => {
      asked += 1;
      return read();
    },
  };
  const term = { endpoints, network: {}, watches: {} } as unknown as Term;
  return { ahead: createRangesAhead(term, () => 'payments'), asked: () => asked };
}

test('the next range is requested once, before it is needed', async () => {
  const { ahead, asked } = rangesAhead(() => Promise.resolve(range));
  expect(ahead.take(11)).toBeNull();
  ahead.begin(11, 20);
  expect(asked()).toBe(1);
  const taken = ahead.take(11);
  expect(taken?.to).toBe(20);
  expect(await taken?.reading()).toBe(range);
  expect(ahead.take(11)).toBeNull();
  expect(asked()).toBe(1);
});

test('nothing is read ahead at the end, nor when the daily plan is used up', () => {
  const atEnd = rangesAhead(() => Promise.resolve(range));
  atEnd.ahead.begin(21, 20);
  const spent = rangesAhead(() => Promise.resolve(range), false);
  spent.ahead.begin(11, 20);
  expect([atEnd.asked(), spent.asked()]).toEqual([0, 0]);
});

test('a range that does not follow the present tip is dropped', () => {
  const { ahead } = rangesAhead(() => Promise.resolve(range));
  ahead.begin(11, 20);
  expect(ahead.take(10)).toBeNull();
  expect(ahead.take(11)).toBeNull();
});

test('a range that was too large is reported, and after any other failure the range is read again', async () => {
  const refusing = rangesAhead(() => Promise.reject(new RpcError('range', 'too many results')));
  refusing.ahead.begin(11, 20);
  await expect(refusing.ahead.take(11)!.reading()).rejects.toThrow('too many results');
  const down = rangesAhead(() => Promise.reject(new RpcError('unreachable', 'down')));
  down.ahead.begin(11, 20);
  expect(await down.ahead.take(11)!.reading()).toBeNull();
});
