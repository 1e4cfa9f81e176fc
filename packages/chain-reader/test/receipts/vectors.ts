import { readFileSync } from 'node:fs';
import {
  addressOf,
  fieldsOfFork,
  makeBlock,
  makeProof,
  makeReceipt,
  word,
  type MadeTransfer,
  type Places,
} from './synthetic-blocks.ts';
import type { ReceiptAnswer } from '../../src/receipts/receipt.ts';

type Case = {
  name: string;
  network: string;
  fork: keyof typeof fieldsOfFork;
  receipts: number;
  amount: string;
  /** What the payment counts as paid from, if that is less. */
  accepted?: string;
  /** The transfers of a transaction, by its index; the others have none. */
  paid: Readonly<Record<number, readonly string[]>>;
  places: Places;
  /** What a receipt of this network has in addition, by its index. */
  more?: Readonly<Record<number, Partial<ReceiptAnswer>>>;
};

const wallet = addressOf('the wallet of the merchant');

const cases: readonly Case[] = [
  {
    ...{ name: 'the only receipt of its block', network: 'ethereum', fork: 'london', receipts: 1, amount: '49.9037' },
    ...{ paid: { 0: ['49.9037'] }, places: [[0, 1]], more: { 0: { type: '0x0' } } },
  },
  {
    ...{ name: 'the first of 300 receipts', network: 'ethereum', fork: 'cancun', receipts: 300, amount: '0.000001' },
    ...{ paid: { 0: ['0.000001'] }, places: [[0, 1]], more: { 0: { type: '0x2' } } },
  },
  {
    ...{ name: 'more than the amount, with 18 decimals', network: 'bnb', fork: 'prague', receipts: 300, amount: '12' },
    ...{ paid: { 258: ['12.000000000000000001'] }, places: [[258, 1]] },
  },
  {
    ...{ name: 'three transfers in two transactions', network: 'polygon', fork: 'london', receipts: 40, amount: '100' },
    ...{
      paid: { 7: ['30', '30.5'], 39: ['39.5'] },
      places: [
        [7, 1],
        [7, 2],
        [39, 1],
      ],
    },
  },
  {
    ...{ name: 'behind a deposit of the OP Stack', network: 'base', fork: 'prague', receipts: 20, amount: '5' },
    ...{
      paid: { 3: ['5'] },
      places: [[3, 1]],
      more: { 0: { type: '0x7e', depositNonce: '0x1ed5a3f', depositReceiptVersion: '0x1' } },
    },
  },
  {
    ...{ name: 'a fee in another currency, on Celo', network: 'celo', fork: 'prague', receipts: 17, amount: '8.25' },
    ...{ paid: { 16: ['8.25'] }, places: [[16, 1]], more: { 16: { type: '0x7b', baseFee: '0x1dcd6500' } } },
  },
  {
    ...{ name: 'a header of Avalanche', network: 'avalanche', fork: 'granite', receipts: 12, amount: '1' },
    ...{ paid: { 11: ['1'] }, places: [[11, 1]] },
  },
  {
    ...{
      name: 'behind a system transaction of Arbitrum',
      network: 'arbitrum',
      fork: 'london',
      receipts: 4,
      amount: '2',
    },
    ...{ paid: { 2: ['2'] }, places: [[2, 1]], more: { 0: { type: '0x6a', cumulativeGasUsed: '0x0' } } },
  },
  {
    ...{ name: 'less than the amount, accepted', network: 'ethereum', fork: 'prague', receipts: 3, amount: '30' },
    ...{ accepted: '29.5', paid: { 1: ['29.5'] }, places: [[1, 1]] },
  },
] as const;

type Log = ReceiptAnswer['logs'][number];
type Fault = {
  step: string;
  /** 3 if not given. */
  amount?: string;
  accepted?: string;
  more?: Partial<ReceiptAnswer>;
  to?: string;
  logIndex?: number;
  event?: (log: Log) => Partial<Log>;
};

/** Blocks with a fault that no proof may hide: the payment's transaction failed, or its event is not the payment's. */
const faults: Readonly<Record<string, Fault>> = {
  'the transaction failed': { step: 'receipt', more: { status: '0x0' } },
  'a receipt from before Byzantium, which states no success': {
    step: 'receipt',
    more: { status: null, root: word('root') },
  },
  'the transfer is to another wallet': { step: 'transfer', to: addressOf('another wallet') },
  'the transfer is of another token': { step: 'transfer', event: () => ({ address: addressOf('another token') }) },
  'the event is no transfer': {
    step: 'transfer',
    event: ({ topics }) => ({ topics: topics.with(0, word('Approval()')) }),
  },
  'the event has four topics': { step: 'transfer', event: ({ topics }) => ({ topics: [...topics, word('id')] }) },
  'the event has two topics': { step: 'transfer', event: ({ topics }) => ({ topics: topics.slice(0, 2) }) },
  'the event has no data': { step: 'transfer', event: () => ({ data: '0x' }) },
  'the event has more data than an amount': { step: 'transfer', event: ({ data }) => ({ data: `${data}00` }) },
  'nothing is transferred': { step: 'transfer', event: () => ({ data: `0x${'00'.repeat(32)}` }) },
  'the event is another one': { step: 'transfer', logIndex: 0 },
  'the event is not there': { step: 'transfer', logIndex: 3 },
  'less than the amount is transferred': { step: 'amount', amount: '3.000001' },
  'less than what was accepted is transferred': { step: 'amount', amount: '5', accepted: '4' },
};

type Network = { id: string; chain_id: number; usdt_contract: string; decimals: number };
const networks = JSON.parse(
  readFileSync(new URL('../../../../infra/networks.json', import.meta.url), 'utf8'),
) as Network[];

function factsOf(id: string) {
  const network = networks.find((each) => each.id === id)!;
  return {
    network: id,
    chainId: network.chain_id,
    token: network.usdt_contract.toLowerCase(),
    decimals: network.decimals,
  };
}

/** What docs/vectors/payment-proofs.json holds: proofs that hold, and changes after which they are refused at a step. */
export function proofVectors() {
  const proofs = cases.map(({ name, network, fork, receipts, amount, accepted, paid, places, more }) => {
    const { decimals, ...facts } = factsOf(network);
    const made = Array.from({ length: receipts }, (_, index) => {
      const transfers = (paid[index] ?? []).map((units): MadeTransfer => ({
        to: wallet,
        units: unitsOf(units, decimals),
      }));
      return makeReceipt(index, facts.token, transfers, more?.[index]);
    });
    const block = makeBlock(name, fieldsOfFork[fork], made);
    return { name, block_hash: block.hash, proof: makeProof(block, { ...facts, amount, accepted, wallet }, places) };
  });
  const { decimals, ...facts } = factsOf('ethereum');
  const faulty = Object.entries(faults).map(
    ([name, { step, amount = '3', accepted, more, to = wallet, logIndex = 1, event }]) => {
      const receipts = [0, 1, 2].map((index) =>
        makeReceipt(index, facts.token, [{ to, units: unitsOf('3', decimals) }]),
      );
      const [first, paying, last] = receipts as [ReceiptAnswer, ReceiptAnswer, ReceiptAnswer];
      const logs = paying.logs.map((log, at) => (at === 1 ? { ...log, ...event?.(log) } : log));
      const block = makeBlock(name, fieldsOfFork.cancun, [first, { ...paying, logs, ...more }, last]);
      return {
        name,
        step,
        block_hash: block.hash,
        proof: makeProof(block, { ...facts, amount, accepted, wallet }, [[1, logIndex]]),
      };
    },
  );
  return { description, proofs, refused: faulty };
}

const description =
  'Proofs of payments in made blocks. `proofs` hold with their block_hash. `refused` fail at `step`, whatever their header says. A proof is the answer of GET /payments/{payment_id}/proof.';

function unitsOf(amount: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
