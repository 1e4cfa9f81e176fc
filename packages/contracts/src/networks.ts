import { parseAddress, type AddressFamily } from './address.ts';
import { AMOUNT_DECIMALS, AMOUNT_PATTERN, parseAmount } from './amount.ts';
import { checkOfSchema, describeErrors, type TypeOf } from './schema.ts';

/**
 * Customers compare these words with another page, so only plain characters are allowed: nothing invisible, no
 * lookalikes of letters.
 */
const NAME_PATTERN = '^[A-Za-z0-9]([A-Za-z0-9 .()-]{0,38}[A-Za-z0-9)])?$';
const TOKEN_STANDARD_PATTERN = '^[A-Za-z0-9]([A-Za-z0-9-]{0,14}[A-Za-z0-9])?$';

const endpointSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['url'],
  properties: {
    url: { type: 'string', minLength: 1 },
    /** HTTP headers of every request, for providers that expect their key in one, such as TRON-PRO-API-KEY. */
    headers: {
      type: 'object',
      maxProperties: 16,
      propertyNames: { pattern: '^[A-Za-z0-9-]{1,64}$' },
      additionalProperties: { type: 'string', minLength: 1, maxLength: 4096 },
    },
    /**
     * WebSocket of the same provider (ws or wss). It announces new blocks immediately; nothing else is read from it.
     */
    ws_url: { type: 'string', minLength: 1 },
    /**
     * Calls per second that the plan allows; each call in a batch counts. Without it, only the provider's refusals
     * limit the rate.
     */
    requests_per_second: { type: 'number', exclusiveMinimum: 0, maximum: 100_000 },
    /**
     * Calls per day that the plan allows. The remaining calls are spread over the day and reserved for waiting
     * payments.
     */
    requests_per_day: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
    /** The same in the provider's units; methods take different numbers of units. */
    units_per_day: { type: 'integer', minimum: 1, maximum: 1_000_000_000_000 },
    /** Units per call: the name of a list in price-lists.ts, or units by method, with `default` for all others. */
    unit_prices: {
      anyOf: [
        { type: 'string', minLength: 1 },
        {
          type: 'object',
          maxProperties: 64,
          additionalProperties: { type: 'integer', minimum: 0, maximum: 1_000_000 },
        },
      ],
    },
    /** When the plan's day begins, in UTC. Default 00:00. */
    day_begins_at: { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' },
  },
} as const;

const schema = {
  type: 'array',
  minItems: 1,
  maxItems: 64,
  items: {
    type: 'object',
    additionalProperties: false,
    required: [
      'id',
      'family',
      'chain_id',
      'rpc_urls',
      'usdt_contract',
      'decimals',
      'confirmations',
      'finality',
      'poll_interval_ms',
      'explorer_transaction_url',
    ],
    properties: {
      /** Short lowercase name, used in the API, e.g. "ethereum". */
      id: { type: 'string', pattern: '^[a-z][a-z0-9-]{0,31}$' },
      /** The network's name for customers, as exchanges and wallets write it, e.g. "BNB Smart Chain". */
      name: { type: 'string', pattern: NAME_PATTERN },
      /**
       * The word that exchanges show next to that name for token withdrawals, e.g. "BEP20". Without it, only the name
       * is shown.
       */
      token_standard: { type: 'string', pattern: TOKEN_STANDARD_PATTERN },
      family: { enum: ['evm', 'tron'] },
      chain_id: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
      /** Endpoints, best first; a text is an endpoint with only a URL. An empty list disables the network. */
      rpc_urls: { type: 'array', maxItems: 16, items: { anyOf: [{ type: 'string', minLength: 1 }, endpointSchema] } },
      /** Canonical address of the USDT contract. */
      usdt_contract: { type: 'string' },
      /** Decimals of that contract: 6 nearly everywhere, 18 on BNB Chain. */
      decimals: { type: 'integer', minimum: AMOUNT_DECIMALS, maximum: 36 },
      /** A transfer in block B is confirmed when head − B + 1 reaches this number. */
      confirmations: { type: 'integer', minimum: 1, maximum: 100_000 },
      /** `finalized` also waits until the chain itself declares the block final. */
      finality: { enum: ['confirmations', 'finalized'] },
      /**
       * A transfer of more than this (decimal text, USDT) also waits until the chain declares its block final, even if
       * `finality` doesn't require it.
       */
      finalized_above_amount: { type: 'string', pattern: AMOUNT_PATTERN },
      /**
       * A transfer of more than this (decimal text, USDT) is confirmed only when two endpoints show it at the same
       * place.
       */
      agreement_above_amount: { type: 'string', pattern: AMOUNT_PATTERN },
      /**
       * Used while no node has named a final block: a block this deep counts as final. Without it, only a block that a
       * node names is final.
       */
      confirmations_without_finalized: { type: 'integer', minimum: 1, maximum: 100_000 },
      /**
       * Whether a block is final as soon as nodes show it, so that the block they name as `finalized` may be their
       * newest. On other networks that answer proves nothing: some nodes return their newest block for every tag they
       * don't know.
       */
      instant_finality: { type: 'boolean' },
      /** The most blocks in one eth_getLogs. Default 2000. */
      max_block_range: { type: 'integer', minimum: 1, maximum: 100_000 },
      /**
       * Whether blocks contain events that their header's Bloom filter omits, so that the filter can't be used to skip
       * a block. Default: only on Polygon, whose bridge had such events until December 2025.
       */
      events_outside_bloom: { type: 'boolean' },
      /**
       * Whether a block's receipts and header can be hashed again as the chain does it, so that the block's hash proves
       * what it contains. By default, only Ethereum and Arbitrum One are `proven`: whole real
       * blocks of those were rebuilt.
       */
      receipts: { enum: ['proven', 'unproven'] },
      /**
       * The longest time between two checks for a due block, in milliseconds. Faster blocks are read several at once.
       */
      poll_interval_ms: { type: 'integer', minimum: 20, maximum: 600_000 },
      /**
       * Milliseconds between two checks while no payment waits on the network. Default 60000. A longer time would look
       * like a stopped scan.
       */
      asleep_poll_interval_ms: { type: 'integer', minimum: 20, maximum: 60_000 },
      /** Link to a transaction, with `{transaction_id}` in place of its id; null without an explorer. */
      explorer_transaction_url: { anyOf: [{ type: 'string', pattern: '\\{transaction_id\\}' }, { type: 'null' }] },
      /** Link to an address there, with `{address}` in its place; none by default. */
      explorer_address_url: { type: 'string', pattern: '\\{address\\}' },
      /**
       * The chain as wallets know it, so that the checkout page can offer to add it to a customer's wallet (EIP-3085)
       * and can name the coin of its fees. It is shown to every customer, so it contains no key.
       */
      wallet_chain: {
        type: 'object',
        additionalProperties: false,
        required: ['coin'],
        properties: {
          /** Default: the network's name for customers. */
          name: { type: 'string', pattern: NAME_PATTERN },
          /** Symbol of the coin in which fees are paid, e.g. "ETH". It has 18 decimals on every EVM network. */
          coin: { type: 'string', pattern: '^[A-Z]{2,6}$' },
          /** Default: the symbol. */
          coin_name: { type: 'string', pattern: NAME_PATTERN },
          /** A public endpoint for wallets. Without it, the page only asks to switch. */
          rpc_url: { type: 'string', pattern: '^https?://' },
        },
      },
      /**
       * The network of an EVM address when a payment names none. If several EVM networks are enabled, exactly one must
       * set it.
       */
      default_evm: { type: 'boolean' },
    },
  },
} as const;

/**
 * A node with Ethereum JSON-RPC. `${NAME}` in its texts is an environment variable, which only chain-watcher fills in.
 */
export type RpcEndpoint = TypeOf<typeof endpointSchema>;

/** One blockchain on which payments can be received, as written in the networks file. */
export type Network = TypeOf<typeof schema>[number];

const validate = checkOfSchema<Network[]>(schema);

/**
 * Checks a parsed networks file and returns the enabled networks: those with RPC URLs.
 * @throws Error listing every problem of the file.
 */
export function parseNetworks(json: unknown): Network[] {
  if (!validate(json)) throw new Error(`networks: ${describeErrors(validate.errors)}`);
  const enabled = json.filter((network) => network.rpc_urls.length > 0);
  const problems = [
    ...addressProblems(json),
    ...receiptProblems(json),
    ...duplicates(json),
    ...endpointProblems(enabled),
    ...nameProblems(enabled),
  ];
  const defaults = enabled.filter((network) => network.default_evm === true);
  if (defaults.length > 1)
    problems.push(`several networks are default_evm: ${defaults.map(({ id }) => id).join(', ')}`);
  const evm = enabled.filter((network) => network.family === 'evm');
  if (evm.length > 1 && defaults.length === 0) problems.push('one of several EVM networks must be default_evm');
  if (defaults.some((network) => network.family !== 'evm')) problems.push('default_evm belongs to an EVM network');
  if (problems.length > 0) throw new Error(`networks: ${problems.join('; ')}`);
  return enabled;
}

/**
 * The amount, in millionths of a USDT, above which two endpoints must show a transfer as final at the same place; null
 * for none. With two endpoints it includes every amount that waits for finality because of its size, because a single
 * endpoint could claim finality early.
 */
export function agreementAboveUnits(
  network: Pick<Network, 'rpc_urls' | 'finalized_above_amount' | 'agreement_above_amount'>,
): bigint | null {
  const { agreement_above_amount: agreement, finalized_above_amount: finalized, rpc_urls: endpoints } = network;
  const amounts = [agreement, endpoints.length > 1 ? finalized : undefined];
  const units = amounts.flatMap((amount) => (amount === undefined ? [] : (parseAmount(amount) ?? [])));
  return units.reduce<bigint | null>((least, each) => (least === null || each < least ? each : least), null);
}

/**
 * The amount, in millionths of a USDT, above which a transfer is confirmed only after a second endpoint was asked; null for none. Where the
 * hash of a block proves its transfers, that costs one call, so every amount is checked, and agreementAboveUnits() says which amounts also
 * wait while no second endpoint answers.
 */
export function crossCheckedAboveUnits(
  network: Pick<Network, 'rpc_urls' | 'finalized_above_amount' | 'agreement_above_amount' | 'receipts' | 'chain_id'>,
): bigint | null {
  return hasProvenReceipts(network) && network.rpc_urls.length > 1 ? 0n : agreementAboveUnits(network);
}

const POLYGON_CHAIN_ID = 137;

/** Files from before the field existed may also contain Polygon. */
export function hasEventsOutsideBloom({
  events_outside_bloom: isTold,
  chain_id: chainId,
}: Pick<Network, 'events_outside_bloom' | 'chain_id'>): boolean {
  return isTold ?? chainId === POLYGON_CHAIN_ID;
}

/** Ethereum and Arbitrum One. */
const CHAINS_WITH_PROVEN_RECEIPTS = [1, 42_161];

/** Whether the hash of a block of this network proves its events. Files from before the field existed have these networks, too. */
export function hasProvenReceipts({ receipts, chain_id: chainId }: Pick<Network, 'receipts' | 'chain_id'>): boolean {
  return receipts === undefined ? CHAINS_WITH_PROVEN_RECEIPTS.includes(chainId) : receipts === 'proven';
}

/**
 * The network for an address when the payment names none: the default EVM network (or the only one), or the first Tron
 * network.
 */
export function defaultNetwork(networks: readonly Network[], family: AddressFamily): Network | null {
  const candidates = networks.filter((network) => network.family === family);
  return candidates.find((network) => network.default_evm === true) ?? candidates[0] ?? null;
}

/** The network's name for customers: the name in the file, or the id with a capital. */
export function networkName({ name, id }: Network): string {
  return name ?? `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
}

/**
 * The word next to the name on exchanges' withdrawal pages: "Tron (TRC20)". Every Tron network has it.
 * @returns null if only the name is shown. "ERC20" is not the default for EVM networks, although their tokens follow
 *   it: on those pages it means Ethereum, and a customer who reads "Polygon (ERC20)" may choose that.
 */
export function tokenStandard({ token_standard: standard, family }: Network): string | null {
  return standard ?? (family === 'tron' ? 'TRC20' : null);
}

function addressProblems(networks: readonly Network[]): string[] {
  return networks
    .filter((network) => parseAddress(network.usdt_contract)?.family !== network.family)
    .map((network) => `${network.id}: usdt_contract is no ${network.family} address`);
}

/** Tron's headers contain no hash of the receipts. */
function receiptProblems(networks: readonly Network[]): string[] {
  return networks
    .filter(({ family, receipts }) => family === 'tron' && receipts === 'proven')
    .map(({ id }) => `${id}: the receipts of a Tron network cannot be proven`);
}

/** An endpoint can't agree with itself: if it is listed twice, it alone could confirm large transfers. */
function endpointProblems(networks: readonly Network[]): string[] {
  return networks.flatMap(({ id, rpc_urls: entries, agreement_above_amount: threshold }) => {
    const urls = new Set(entries.map((entry) => (typeof entry === 'string' ? entry : entry.url)));
    const problems = urls.size < entries.length ? [`${id}: rpc_urls name an endpoint twice`] : [];
    if (threshold !== undefined && urls.size < 2)
      problems.push(`${id}: agreement_above_amount needs a second endpoint in rpc_urls`);
    const plans = entries.flatMap((entry, position) =>
      typeof entry === 'string' ? [] : planProblems(entry, `${id}: rpc_urls[${String(position)}]`),
    );
    return [...problems, ...plans];
  });
}

function planProblems(endpoint: RpcEndpoint, place: string): string[] {
  const { unit_prices: prices, units_per_day: units, requests_per_day: requests, day_begins_at: begin } = endpoint;
  const problems: string[] = [];
  if (units !== undefined && prices === undefined) problems.push(`${place}: units_per_day needs unit_prices`);
  if (units === undefined && prices !== undefined)
    problems.push(`${place}: unit_prices mean nothing without units_per_day`);
  if (units === undefined && requests === undefined && begin !== undefined)
    problems.push(`${place}: day_begins_at means nothing without requests_per_day or units_per_day`);
  if (prices !== undefined && unitPricesOf(prices) === null)
    problems.push(`${place}.unit_prices ${priceListProblem(prices)}`);
  return problems;
}

/** @returns null for an unknown list, or one without `default`. */
export function unitPricesOf(prices: NonNullable<RpcEndpoint['unit_prices']>): UnitPrices | null {
  if (typeof prices === 'string') return priceLists[prices] ?? null;
  const { default: other } = prices;
  return other === undefined ? null : { ...prices, default: other };
}

function priceListProblem(prices: NonNullable<RpcEndpoint['unit_prices']>): string {
  if (typeof prices !== 'string') return 'lack default: what a call takes that they do not name';
  return `names no list that we have: ${Object.keys(priceLists).join(', ')}`;
}

/** Two networks with the same name. A copied entry with the old name would send customers to the wrong chain. */
function nameProblems(networks: readonly Network[]): string[] {
  const shown = (network: Network) => networkName(network).toLowerCase();
  const isTaken = (network: Network, position: number) =>
    networks.slice(0, position).some((earlier) => earlier.id !== network.id && shown(earlier) === shown(network));
  return networks
    .filter(isTaken)
    .map((network) => `${network.id}: another network is called ${networkName(network)} too`);
}

function duplicates(networks: readonly Network[]): string[] {
  const ids = networks.map((network) => network.id);
  return ids.filter((id, position) => ids.indexOf(id) !== position).map((id) => `${id} stands there twice`);
}

/** Units per call, by method; `default` is for every other method. */
export type UnitPrices = Record<string, number> & { default: number };

/**
 * The prices that providers publish, as of November 2026. Networks files name a list or contain their own.
 * Sources: alchemy.com/docs/reference/compute-unit-costs (compute units);
 * docs.metamask.io/services/get-started/pricing/credit-cost (Infura's credits; a batch counts as one additional call);
 * quicknode.com/api-credits (credits; Tron 30, Celo 40 per call).
 */
export const priceLists: Readonly<Record<string, UnitPrices>> = {
  alchemy: { default: 20, eth_chainId: 0, eth_blockNumber: 10, eth_getLogs: 60 },
  infura: { default: 80, eth_chainId: 5, eth_getLogs: 255, eth_getBlockReceipts: 1000, batch: 80 },
  quicknode: { default: 20 },
};
