import { startPart } from '../part.ts';
import { isObject, type Json, type Target } from '../target.ts';

const text = (payload: Json): Json => ({ opcode: 1, fin: true, rsv: 0, length: null, payload });
const announced = {
  jsonrpc: '2.0',
  method: 'eth_subscription',
  params: { subscription: '0x1', result: { hash: `0x${'a'.repeat(64)}` } },
};

export const target: Target = {
  name: 'frames',
  isWhole: false,
  about: 'WebSocket frames of a provider that announces blocks; whatever they are, the next good announcement is heard',
  starts: [
    { status: 101, frames: [text({ jsonrpc: '2.0', id: 1, result: '0x1' }), text(announced)] },
    { status: 101, frames: [text({ jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no such method' } })] },
    { status: 101, frames: [{ opcode: 2, fin: true, rsv: 0, length: null, payload: '\u0000\u0001' }] },
    { status: 101, frames: [{ opcode: 9, fin: true, rsv: 0, length: null, payload: 'ping' }, text(announced)] },
    { status: 101, frames: [{ opcode: 8, fin: true, rsv: 0, length: null, payload: '\u0003\u00e8bye' }] },
    {
      status: 101,
      frames: [
        { opcode: 1, fin: false, rsv: 0, length: null, payload: '{"method":' },
        { opcode: 0, fin: true, rsv: 0, length: null, payload: '"eth_subscription"}' },
      ],
    },
    { status: 101, frames: [{ opcode: 1, fin: true, rsv: 0, length: 300_000, payload: 'long' }] },
    { status: 403, frames: [] },
  ],
  accepts: (input) => isObject(input) && Array.isArray(input['frames']),
  start: (environment) => startPart('frames-process.ts', environment),
};
