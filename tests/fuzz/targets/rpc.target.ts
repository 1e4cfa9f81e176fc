import { startPart } from '../part.ts';
import { isObject, type Json, type Target } from '../target.ts';

const read = (what: string, method: string, ...changes: Json[]): Json => ({
  read: what,
  method,
  changes,
  error: null,
  body: null,
});

export const target: Target = {
  name: 'rpc',
  isWhole: false,
  about: 'answers of a node to chain-watcher; each is used whole or refused in words, and none breaks the reading',
  starts: [
    read('poll', 'eth_getLogs'),
    read('range', 'eth_getLogs'),
    read('verify', 'eth_getTransactionReceipt'),
    read('look-up', 'eth_getTransactionByHash'),
    read('poll', 'eth_getBlockByNumber', { at: ['timestamp'], value: '0x1' }, { at: ['number'], value: '0xffffffff' }),
    read('poll', 'eth_getLogs', { at: [0, 'data'], value: `0x${'f'.repeat(64)}` }),
    read('range', 'eth_getLogs', { at: [3, 'topics', 2], value: null }, { at: [3, 'logIndex'], value: '0x2' }),
    read('range', 'eth_getBlockByNumber', { at: ['logsBloom'], value: `0x${'0'.repeat(512)}` }),
    read('verify', 'eth_getTransactionReceipt', { at: ['logs', 0, 'address'], value: '0x00' }),
    read('look-up', 'eth_getTransactionReceipt', { at: ['status'], value: '0x0' }),
    {
      read: 'range',
      method: 'eth_getLogs',
      changes: [],
      error: { code: -32005, message: 'limit is 10 blocks' },
      body: null,
    },
    { read: 'poll', method: 'eth_getBlockByNumber', changes: [], error: { code: 429, message: 'slow' }, body: null },
    { read: 'poll', method: '', changes: [], error: null, body: { status: 200, text: '{"error":"no"}', headers: {} } },
    {
      read: 'range',
      method: '',
      changes: [],
      error: null,
      body: { status: 429, text: 'no', headers: { 'retry-after': '1' } },
    },
  ],
  accepts: (input) => isObject(input) && 'read' in input,
  start: (environment) => startPart('rpc-process.ts', environment),
};
