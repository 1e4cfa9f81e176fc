import { parseAddress } from '@quittance/contracts/address.ts';
import { deriveAddresses, keyHash, parseExtendedKey } from '@quittance/contracts/extended-key.ts';
import {
  POOL_ADDRESSES_MAX,
  POOLS_MAX,
  restSeconds,
  type PoolRequest,
  type WalletPool,
} from '@quittance/contracts/http/payments/pools.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { conflict, invalid } from '@quittance/http/errors.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { KeyVault } from '@quittance/runtime/key-vault.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import type { TransactAdmitted } from '../gate/admission.ts';
import { lockWallets } from '../settlement/transfer.sql.ts';
import { lockGate } from '../wallets/proof.sql.ts';
import { saveKey, vaultIdOf, type NewKey } from './key.sql.ts';
import {
  addAddresses,
  countPools,
  deleteUnusedSource,
  findOpenNewAddresses,
  findOthersAddresses,
  findPool,
  insertList,
  keepOnly,
  lockPools,
  type Pool,
  readPools,
  upsertPool,
} from './pool.sql.ts';

export type SavingContext = {
  transact: TransactAdmitted;
  /** Null in an installation without a key for it. */
  vault: KeyVault | null;
  networks: readonly Network[];
  walletBinding: boolean;
};

type Named = { merchantId: string; name: string };

/**
 * Makes or changes a pool. Payments keep their addresses, and nobody owns an address by this.
 * @throws HttpError 409 for the key of another merchant, 422 when the request or a limit does not allow it; then nothing changes.
 */
export async function savePool(context: SavingContext, named: Named, request: PoolRequest): Promise<WalletPool> {
  const { merchantId, name } = named;
  const network = context.networks.find(({ id }) => id === request.network);
  if (network === undefined) throw invalid({ field: 'network', reason: 'is not configured' });
  const source = 'xpub' in request ? readKey(context, network, request) : readList(network, request);
  return context.transact(merchantId, async (tx) => {
    await lockPools(tx, merchantId);
    // A creation that runs may use one of the addresses.
    await lockGate(tx, merchantId);
    const before = await findPool(tx, merchantId, name);
    if (before === null && (await countPools(tx, merchantId)).pools >= POOLS_MAX)
      throw invalid({ field: 'name', reason: `must be that of one of your ${POOLS_MAX} pools, which is the most` });
    const saving = { tx, ...named, before, restSeconds: request.rest_seconds ?? null };
    const refused =
      'addresses' in source
        ? await saveList({ ...saving, network: network.id, binds: context.walletBinding }, source)
        : await saveKeyPool(saving, { ...source, merchantId });
    const [saved] = await readPools(tx, merchantId, name);
    if (saved === undefined) throw new Error(`pool ${name} was saved and is not there`);
    return { ...withTextTimes(saved), refused };
  });
}

type List = { addresses: string[]; append: boolean };

/** Checks the addresses again, in case gateway and payments have different networks files. */
function readList({ id, family }: Network, request: PoolRequest & List): List {
  const addresses = request.addresses.map((text, position) => {
    const address = parseAddress(text);
    if (address?.family !== family)
      throw invalid({ field: `addresses[${position}]`, reason: `is no address of ${id}` });
    return address.address;
  });
  return { addresses: [...new Set(addresses)], append: request.append };
}

type Saving = Named & { tx: Transaction; before: Pool | null; restSeconds: number | null };

/** @returns the addresses that belong to others. */
async function saveList(
  saving: Saving & { network: string; binds: boolean },
  { addresses, append }: List,
): Promise<string[]> {
  const { tx, merchantId, before, network, binds } = saving;
  const isSame = before?.kind === 'list' && before.network === network;
  if (append && before !== null && !isSame)
    throw invalid({ field: 'append', reason: `must be false: the pool is not a list of addresses of ${network}` });
  const sourceId = isSame ? before.source_id : await insertList(tx, merchantId, network);
  await upsert(saving, sourceId);
  const others = await findOthersAddresses(tx, { merchantId, addresses, binds });
  const own = addresses.filter((address) => !others.has(address));
  const open = await findOpenNewAddresses(tx, { sourceId, network }, own);
  // A payment that ends at the same time must find its address in the list, or be over when the address is added.
  if (open.length > 0)
    await lockWallets(
      tx,
      open.map((recipient) => ({ network, recipient })),
    );
  if (!append) await keepOnly(tx, sourceId, own);
  const { rest_seconds: seconds } = (await findPool(tx, merchantId, saving.name)) ?? {
    rest_seconds: restSeconds.default,
  };
  await addAddresses(tx, { sourceId, network, restSeconds: seconds, append }, own);
  if ((await countPools(tx, merchantId)).addresses > POOL_ADDRESSES_MAX)
    throw invalid({ field: 'addresses', reason: `must be at most ${POOL_ADDRESSES_MAX} in all your pools together` });
  return addresses.filter((address) => others.has(address));
}

type Key = Omit<NewKey, 'merchantId'>;

/** So many are shown, for people to compare with their wallet. */
const SHOWN = 3;

function readKey(
  { vault }: SavingContext,
  { id, family }: Network,
  { xpub, expect_first_address: expected }: { xpub: string; expect_first_address: string },
): Key {
  const { key, problem } = parseExtendedKey(xpub);
  if (key === null) throw invalid({ field: 'xpub', reason: problem });
  if (vault === null)
    throw invalid({ field: 'xpub', reason: 'cannot be used: extended keys are not enabled in this installation' });
  const firstAddresses = deriveAddresses(key, family, { from: 0, count: SHOWN });
  const [first] = firstAddresses;
  // An address of another level would look like a customer's payment that never comes.
  if (parseAddress(expected)?.address !== first)
    throw invalid({
      field: 'expect_first_address',
      reason: `must be the first address of the key, 0/0, which is ${first}`,
    });
  const sha256 = keyHash(key);
  return { network: id, sha256, firstAddresses, ...vault.seal(vaultIdOf(sha256, id), xpub) };
}

async function saveKeyPool(saving: Saving, key: NewKey): Promise<string[]> {
  const sourceId = await saveKey(saving.tx, key);
  if (sourceId === null) throw conflict('wallet_of_another_merchant', 'This extended key belongs to another merchant');
  await upsert(saving, sourceId);
  return [];
}

async function upsert({ tx, merchantId, name, restSeconds: seconds, before }: Saving, sourceId: bigint): Promise<void> {
  await upsertPool(tx, { merchantId, name, sourceId, restSeconds: seconds, defaultSeconds: restSeconds.default });
  if (before !== null && before.source_id !== sourceId) await deleteUnusedSource(tx, before.source_id);
}
