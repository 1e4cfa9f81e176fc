import { sha256 } from '@quittance/contracts/ids.ts';
import type { CreationRequest } from '@quittance/contracts/payment.ts';

/** Two SHA-256 of the validated request: the same values under the same key are a replay, other values a conflict. */
export type Fingerprints = {
  /** Of what the request says. */
  fingerprint: Buffer;
  /** Of the other request that means the same at the present setting; null where there is none. */
  equal_fingerprint: Buffer | null;
};

type Requested = CreationRequest & { amount_units: bigint };

/**
 * Two requests are the same when their validated values are: "10.5" and "10.50" are one amount, and an option that says what its absence
 * says is absent. What the absence of `expires_in` says is a setting, which may change before a request is repeated. So there is a
 * fingerprint of the request as it is, and one of the other form that means the same today; a saved reply has both, and either finds it.
 * A request without options has the fingerprint that it had before there were any: saved replies are found by it.
 * @param ttlSeconds what `expires_in` is when it is absent.
 */
export function fingerprintsOf(creation: Requested, ttlSeconds: number): Fingerprints {
  const { expires_in: seconds, ...others } = creation;
  const fingerprint = hash(creation);
  if (seconds === undefined) return { fingerprint, equal_fingerprint: hash({ ...others, expires_in: ttlSeconds }) };
  return { fingerprint, equal_fingerprint: seconds === ttlSeconds ? hash(others) : null };
}

function hash(creation: Requested): Buffer {
  const { amount_units: units, merchant_wallet: wallet, network, description } = creation;
  const options = optionsOf(creation);
  const said = Object.keys(options).length > 0 ? [options] : [];
  return sha256(JSON.stringify([units.toString(), wallet, network, description, ...said]));
}

/** In this order, without those that are absent. */
const optionsOf = (creation: CreationRequest) => ({
  ...(creation.order_id !== undefined && { order_id: creation.order_id }),
  ...(creation.metadata !== undefined && { metadata: Object.entries(creation.metadata).sort(byName) }),
  ...(creation.return_url !== undefined && { return_url: creation.return_url }),
  ...(creation.expires_in !== undefined && { expires_in: creation.expires_in }),
  ...(creation.unique_amount === true && { unique_amount: true }),
});

const byName = ([a]: [string, string], [b]: [string, string]): number => (a < b ? -1 : 1);
