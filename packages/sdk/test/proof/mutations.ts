import type { PaymentProof, ProofStep } from '../../src/index.ts';

/** Chooses a whole number from 0 up to this one. */
export type Pick = (below: number) => number;

type Mutation = { step: ProofStep; mutate: (proof: PaymentProof, pick: Pick) => void };

/** Everything that a proof states and a chain can deny, changed in one place. Each mutant must be refused at its step. */
export const mutations: Readonly<Record<string, Mutation>> = {
  'a version': { step: 'format', mutate: (proof, pick) => set(proof, 'version', [0, 2, '1', null][pick(4)]) },
  'a missing part': {
    step: 'format',
    mutate: (proof, pick) => set(proof, ['payment', 'block', 'receipts', 'token', 'chain_id'][pick(5)]!, undefined),
  },
  'no receipts': { step: 'format', mutate: (proof) => set(proof, 'receipts', []) },
  'hex that is none': {
    step: 'format',
    mutate: (proof, pick) => set(proof.block, ['hash', 'header'][pick(2)]!, ['0x', '0xz0', 'ab', 7][pick(4)]),
  },
  'an amount that is none': {
    step: 'format',
    mutate: (proof, pick) => set(proof.payment, 'amount', ['', '-1', '1e3', '1.', '0.0000000000000000001'][pick(5)]),
  },
  'an accepted amount that is none, or not less': {
    step: 'format',
    mutate: ({ payment }, pick) =>
      set(payment, 'accepted_amount', ['', null, payment.amount, `1${payment.amount}`][pick(4)]),
  },
  'an index that is none': {
    step: 'format',
    mutate: (proof, pick) => set(proof.receipts[0]!, ['index', 'log_index'][pick(2)]!, [-1, 0.5, '1', null][pick(4)]),
  },
  'another chain': {
    step: 'network',
    mutate: (proof, pick) => set(proof, 'chain_id', proof.chain_id + 1 + pick(1_000)),
  },
  'another token': { step: 'network', mutate: (proof, pick) => set(proof, 'token', changedHex(proof.token, pick)) },
  'another network': {
    step: 'network',
    mutate: (proof, pick) => set(proof.payment, 'network', ['tron', 'optimism', 'constructor', 'local'][pick(4)]),
  },
  'another block': { step: 'block', mutate: ({ block }, pick) => set(block, 'hash', changedHex(block.hash, pick)) },
  'another header': {
    step: 'header',
    mutate: ({ block }, pick) => set(block, 'header', changedHex(block.header, pick)),
  },
  'a shorter header': { step: 'header', mutate: ({ block }, pick) => set(block, 'header', cutHex(block.header, pick)) },
  'another height': {
    step: 'header',
    mutate: ({ block }, pick) => set(block, 'number', block.number + 1 + pick(1_000)),
  },
  'another time': {
    step: 'header',
    mutate: ({ block }, pick) =>
      set(block, 'timestamp', ['soon', new Date(Date.parse(block.timestamp) + 1 + pick(1e9)).toISOString()][pick(2)]),
  },
  'another receipt': { step: 'branch', mutate: onReceipt((one, pick) => set(one, 'rlp', changedHex(one.rlp, pick))) },
  'another index': { step: 'branch', mutate: onReceipt((one, pick) => set(one, 'index', one.index + 1 + pick(300))) },
  'another node': {
    step: 'branch',
    mutate: onReceipt(({ nodes }, pick) => {
      const at = pick(nodes.length);
      nodes[at] = changedHex(nodes[at]!, pick);
    }),
  },
  'a missing node': { step: 'branch', mutate: onReceipt(({ nodes }, pick) => leaveOneOut(nodes, pick)) },
  'a further node': {
    step: 'branch',
    mutate: onReceipt(({ nodes }, pick) => void nodes.splice(pick(nodes.length + 1), 0, nodes[pick(nodes.length)]!)),
  },
  'another event': {
    step: 'transfer',
    mutate: onReceipt((one, pick) => set(one, 'log_index', [0, one.log_index + 3 + pick(1_000)][pick(2)])),
  },
  'an event that is counted twice': {
    step: 'transfer',
    mutate: ({ receipts }, pick) => void receipts.push(structuredClone(receipts[pick(receipts.length)]!)),
  },
  'another wallet': {
    step: 'transfer',
    mutate: ({ payment }, pick) => set(payment, 'merchant_wallet', changedHex(payment.merchant_wallet, pick)),
  },
  'a greater amount': {
    step: 'amount',
    mutate: ({ payment }, pick) => {
      const more = raised(payment.accepted_amount ?? payment.amount, 1 + pick(1_000));
      if (payment.accepted_amount === undefined) payment.amount = more;
      else Object.assign(payment, { accepted_amount: more, amount: raised(more, 1) });
    },
  },
};

function raised(amount: string, by: number): string {
  const [whole, ...fraction] = amount.split('.');
  return [Number(whole) + by, ...fraction].join('.');
}

function onReceipt(change: (receipt: PaymentProof['receipts'][number], pick: Pick) => void): Mutation['mutate'] {
  return ({ receipts }, pick) => change(receipts[pick(receipts.length)]!, pick);
}

function set(record: object, field: string, value: unknown): void {
  Object.assign(record, { [field]: value });
}

/** One hex digit is another one. */
function changedHex(text: string, pick: Pick): string {
  const at = 2 + pick(text.length - 2);
  const digit = (Number.parseInt(text.charAt(at), 16) + 1 + pick(15)) % 16;
  return text.slice(0, at) + digit.toString(16) + text.slice(at + 1);
}

const cutHex = (text: string, pick: Pick): string => text.slice(0, -2 * (1 + pick(text.length / 2 - 2)));

function leaveOneOut(list: string[], pick: Pick): void {
  // A branch of one node would become no branch at all, which the format refuses.
  if (list.length === 1) list[0] = cutHex(list[0]!, pick);
  else list.splice(pick(list.length), 1);
}
