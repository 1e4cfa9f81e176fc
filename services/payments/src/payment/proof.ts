import { formatUnits, toTokenUnits } from '@quittance/contracts/amount.ts';
import { PROVEN_TRANSFERS_MAX, type PaymentProof } from '@quittance/contracts/api/proof.ts';
import { ReadTransferProofs, type TransferProof } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { OwnPayment } from '@quittance/contracts/http/payments/payments.ts';
import { hasProvenReceipts, networkName, type Network } from '@quittance/contracts/networks.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { conflict, HttpError } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { findPayment, type PaymentRow } from './payment.sql.ts';
import type { ConfirmationPolicy } from './progress.ts';
import { findPaying, type PayingRow } from './proof.sql.ts';

export type ProofSources = {
  db: Queryable;
  watcher: Pick<ServiceClient, 'call'>;
  networks: readonly Network[];
  policy: ConfirmationPolicy;
};

/**
 * What proves that a payment was paid, for anybody who trusts the hash of its block.
 * @throws HttpError 404 for a payment that is not this merchant's, 409 with the reason where there is no proof.
 * @throws ServiceUnavailable when chain-watcher does not answer.
 */
export async function readProof(sources: ProofSources, { merchant_id, payment_id }: OwnPayment): Promise<PaymentProof> {
  const { db, watcher, networks, policy } = sources;
  const payment = await findPayment(db, payment_id);
  if (payment?.merchant_id !== merchant_id) throw new HttpError(404, 'Payment not found');
  const { paid_at: paidAt } = payment;
  if (payment.status !== 'PAID' || paidAt === null)
    throw noProof(`Only a PAID payment has a proof, and this one is ${payment.status}`);
  const network = networks.find(({ id }) => id === payment.network);
  if (network === undefined) throw noProof(`The network ${payment.network} is switched off`);
  if (!hasProvenReceipts(network)) throw noProof(`Blocks of ${networkName(network)} cannot be proven`);
  const paying = await findPaying(db, payment_id, PROVEN_TRANSFERS_MAX + 1);
  const transfers = await readTransferProofs(watcher, network, paying);
  const [{ block_number, block_hash, block_timestamp, header }] = transfers;
  return {
    version: 1,
    payment: {
      payment_id,
      amount: payment.amount,
      ...acceptedAmount(payment, paying),
      merchant_wallet: payment.recipient,
      network: network.id,
      description: payment.description,
      created_at: rfc3339(payment.created_at),
      paid_at: rfc3339(paidAt),
    },
    chain_id: network.chain_id,
    token: network.usdt_contract.toLowerCase(),
    block: { number: block_number, hash: block_hash, timestamp: block_timestamp, header },
    receipts: transfers.map((transfer) => ({
      transaction_id: transfer.transaction_id,
      index: transfer.transaction_index,
      rlp: transfer.receipt,
      nodes: transfer.nodes,
      log_index: transfer.transaction_event_index,
    })),
    finality: {
      rule: policy(network.id, payment.amount_units).finality ? 'finalized' : 'confirmations',
      confirmations: Math.min(...paying.map(({ confirmations }) => confirmations)),
      // An earlier release did not count the endpoints, and asked at least one.
      agreed_by: Math.min(...transfers.map(({ agreed_by: endpoints }) => endpoints ?? 1)),
    },
  };
}

const noProof = (detail: string): HttpError => conflict('proof_unavailable', detail);

/** @returns what proves these transfers, in their order, all of one block. */
async function readTransferProofs(
  watcher: ProofSources['watcher'],
  { id }: Network,
  paying: readonly PayingRow[],
): Promise<[TransferProof, ...TransferProof[]]> {
  if (paying.length > PROVEN_TRANSFERS_MAX)
    throw noProof(`More than ${PROVEN_TRANSFERS_MAX} transfers pay this payment, and a proof holds no more`);
  const asked = paying.map(({ transaction_id, transaction_event_index }) => ({
    transaction_id,
    transaction_event_index,
  }));
  const { proofs } =
    asked.length === 0
      ? { proofs: [] }
      : await watcher.call(ReadTransferProofs, { body: { network: id, transfers: asked } });
  const byPlace = new Map(proofs.map((proof) => [placeOf(proof), proof]));
  const [first, ...others] = asked.flatMap((transfer) => byPlace.get(placeOf(transfer)) ?? []);
  if (first === undefined || others.length + 1 < asked.length)
    throw noProof(
      'Nothing is kept that proves the transfers: they were confirmed before proofs were kept, or their receipt is too large',
    );
  if (others.some(({ block_hash: hash }) => hash !== first.block_hash))
    throw noProof('Transfers in several blocks pay this payment, and a proof is about one block');
  return [first, ...others];
}

const placeOf = (transfer: Pick<PayingRow, 'transaction_id' | 'transaction_event_index'>): string =>
  `${transfer.transaction_id} ${transfer.transaction_event_index}`;

/** Only for a payment that counts as paid with less than its amount. */
function acceptedAmount(payment: PaymentRow, paying: readonly PayingRow[]): { accepted_amount?: string } {
  const units = paying.reduce((sum, { amount_units: each }) => sum + BigInt(each), 0n);
  const [first] = paying;
  if (first === undefined || units >= toTokenUnits(payment.amount_units, first.decimals)) return {};
  return { accepted_amount: formatUnits(units, first.decimals) };
}
