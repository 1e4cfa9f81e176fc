import type { PaymentProof } from '../types.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const bytes = matches(/^0x([0-9a-f]{2})+$/i);
const hash = matches(/^0x[0-9a-f]{64}$/i);
const address = matches(/^0x[0-9a-f]{40}$/i);
const index: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(check);

const amount = matches(/^\d{1,30}(\.\d{1,18})?$/);

const paymentFields = {
  payment_id: matches(/^pay_[0-9a-f]{32}$/),
  network: matches(/^[a-z0-9-]{1,64}$/),
  amount,
  accepted_amount: (value: unknown) => value === undefined || amount(value),
  merchant_wallet: address,
};
const blockFields = { number: index, hash, timestamp: text, header: bytes };
const receiptFields = { index, rlp: bytes, nodes: listOf(bytes), log_index: index, transaction_id: text };

/**
 * Reads what is verified of a proof; its other fields state what no chain can prove. All hex becomes lowercase.
 * @throws TypeError when it is not a proof of version 1.
 */
export function readProof(proof: unknown): PaymentProof {
  const { version, payment, block, receipts, chain_id, token } = recordOf(proof, 'the proof');
  if (version !== 1) throw new TypeError('this is not a proof of version 1');
  if (!index(chain_id)) throw new TypeError('chain_id is missing or malformed');
  if (!address(token)) throw new TypeError('token is missing or malformed');
  check(payment, 'payment', paymentFields);
  check(block, 'block', blockFields);
  if (!Array.isArray(receipts) || receipts.length === 0) throw new TypeError('receipts is missing or empty');
  for (const [at, receipt] of receipts.entries()) check(receipt, `receipts[${at}]`, receiptFields);
  return JSON.parse(JSON.stringify(proof), (_, value: unknown) =>
    bytes(value) ? (value as string).toLowerCase() : value,
  ) as PaymentProof;
}

function check(value: unknown, name: string, fields: Readonly<Record<string, Check>>): void {
  const record = recordOf(value, name);
  for (const [field, isValid] of Object.entries(fields))
    if (!isValid(record[field])) throw new TypeError(`${name}.${field} is missing or malformed`);
}

function recordOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new TypeError(`${name} is no object`);
  return value as Readonly<Record<string, unknown>>;
}
