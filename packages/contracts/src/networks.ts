import { parseAddress, type AddressFamily } from './address.ts';
import { AMOUNT_DECIMALS, AMOUNT_PATTERN, parseAmount } from './amount.ts';
import { priceLists, type UnitPrices } from './price-lists.ts';
import { checkOfSchema, describeErrors, type TypeOf } from './schema.ts';

/** Customers compare these words with what another page shows, so they are plain: nothing invisible, nothing that only looks like a letter. */
const NAME_PATTERN = '^[A-Za-z0-9]([A-Za-z0-9 .()-]{0,38}[A-Za-z0-9)])?$';
const TOKEN_STANDARD_PATTERN = '^[A-Za-z0-9]([A-Za-z0-9-]{0,14}[A-Za-z0-9])?$';

const endpointSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['url'],
  properties: {
    url: { type: 'string', minLength: 1 },
    /** HTTP headers of every request, where a provider wants its key in one, such as TRON-PRO-API-KEY. */
    headers: {
      type: 'object',
      maxProperties: 16,
      propertyNames: { pattern: '^[A-Za-z0-9-]{1,64}$' },
      additionalProperties: { type: 'string', minLength: 1, maxLength: 4096 },
    },
    /** WebSocket of the same provider (ws or wss): announces new blocks at once; nothing else is taken from it. */
    ws_url: { type: 'string', minLength: 1 },
    /** Calls a second that the plan allows; a batch counts all it holds. Without it, only the provider's refusals limit. */
    requests_per_second: { type: 'number', exclusiveMinimum: 0, maximum: 100_000 },
    /** Calls a day that the plan allows. What is left is spread over the day, and kept for payments that wait. */
    requests_per_day: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
    /** The same in the provider's units, of which a call takes more or fewer. */
    units_per_day: { type: 'integer', minimum: 1, maximum: 1_000_000_000_000 },
    /** Units that a call takes: the name of a list in price-lists.ts, or units by method, with `default` for all others. */
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
      /** What customers know the network by, as exchanges and wallets write it, e.g. "BNB Smart Chain". */
      name: { type: 'string', pattern: NAME_PATTERN },
      /** The word that exchanges put beside that name when a token is sent, e.g. "BEP20"; without one, the name is all they show. */
      token_standard: { type: 'string', pattern: TOKEN_STANDARD_PATTERN },
      family: { enum: ['evm', 'tron'] },
      chain_id: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
      /** Where the chain is read, best first; a text is an endpoint with nothing but a URL. None: the network is switched off. */
      rpc_urls: { type: 'array', maxItems: 16, items: { anyOf: [{ type: 'string', minLength: 1 }, endpointSchema] } },
      /** Canonical address of the USDT contract. */
      usdt_contract: { type: 'string' },
      /** Decimals of that contract: 6 nearly everywhere, 18 on BNB Chain. */
      decimals: { type: 'integer', minimum: AMOUNT_DECIMALS, maximum: 36 },
      /** A transfer in block B is confirmed when head − B + 1 reaches this number. */
      confirmations: { type: 'integer', minimum: 1, maximum: 100_000 },
      /** `finalized` also waits until the chain itself calls the block final. */
      finality: { enum: ['confirmations', 'finalized'] },
      /** A transfer of more than this (decimal text, USDT) also waits until the chain calls its block final, where `finality` alone would not. */
      finalized_above_amount: { type: 'string', pattern: AMOUNT_PATTERN },
      /** A transfer of more than this (decimal text, USDT) is only confirmed once two endpoints show it at the same place. */
      agreement_above_amount: { type: 'string', pattern: AMOUNT_PATTERN },
      /**
       * What stands in for the chain's own word as long as no node has named a final block: a block this deep counts as final. Without it,
       * only a named block is final.
       */
      confirmations_without_finalized: { type: 'integer', minimum: 1, maximum: 100_000 },
      /**
       * Whether a block is final as soon as nodes show it, so that the one they name for `finalized` may be their newest. Elsewhere that
       * answer proves nothing: some nodes give their newest block for every tag that they do not know.
       */
      instant_finality: { type: 'boolean' },
      /** Most blocks that one eth_getLogs may ask for. Default 2000. */
      max_block_range: { type: 'integer', minimum: 1, maximum: 100_000 },
      /**
       * Whether blocks hold events that their header's Bloom filter leaves out, so that the filter is no reason not to ask. Default: only on
       * Polygon, whose bridge had such events until December 2025.
       */
      events_outside_bloom: { type: 'boolean' },
      /** Most milliseconds between two looks for a block that is due. Blocks that come faster are read several at once. */
      poll_interval_ms: { type: 'integer', minimum: 20, maximum: 600_000 },
      /** Milliseconds between two looks while nobody waits on the network. Default 60000. Longer ones would look like a scan that stands. */
      asleep_poll_interval_ms: { type: 'integer', minimum: 20, maximum: 60_000 },
      /** Link to a transaction, with `{transaction_id}` where its id belongs; null when there is no explorer. */
      explorer_transaction_url: { anyOf: [{ type: 'string', pattern: '\\{transaction_id\\}' }, { type: 'null' }] },
      /** The network of an EVM address when a payment names none. Where several EVM networks are on, exactly one has it. */
      default_evm: { type: 'boolean' },
    },
  },
} as const;

/** A node that answers Ethereum JSON-RPC. `${NAME}` in its texts stands for an environment variable, which only chain-watcher fills in. */
export type RpcEndpoint = TypeOf<typeof endpointSchema>;

/** One blockchain on which payments can be received, as written in the networks file. */
export type Network = TypeOf<typeof schema>[number];

const validate = checkOfSchema<Network[]>(schema);

/**
 * Checks a parsed networks file and keeps what is switched on: a network without RPC URLs is left out.
 * @throws Error that lists every problem of the file at once.
 */
export function parseNetworks(json: unknown): Network[] {
  if (!validate(json)) throw new Error(`networks: ${describeErrors(validate.errors)}`);
  const enabled = json.filter((network) => network.rpc_urls.length > 0);
  const problems = [
    ...addressProblems(json),
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
 * The amount, in millionths of a USDT, above which two endpoints must show a transfer, final, at the same place; null for none. Where two
 * are configured, that holds for everything that waits for finality because of its amount: one endpoint's word could raise it early.
 */
export function agreementAboveUnits(
  network: Pick<Network, 'rpc_urls' | 'finalized_above_amount' | 'agreement_above_amount'>,
): bigint | null {
  const { agreement_above_amount: agreement, finalized_above_amount: finalized, rpc_urls: endpoints } = network;
  const amounts = [agreement, endpoints.length > 1 ? finalized : undefined];
  const units = amounts.flatMap((amount) => (amount === undefined ? [] : (parseAmount(amount) ?? [])));
  return units.reduce<bigint | null>((least, each) => (least === null || each < least ? each : least), null);
}

const POLYGON_CHAIN_ID = 137;

/** Files that were written before the field existed have a Polygon too. */
export function hasEventsOutsideBloom({
  events_outside_bloom: isTold,
  chain_id: chainId,
}: Pick<Network, 'events_outside_bloom' | 'chain_id'>): boolean {
  return isTold ?? chainId === POLYGON_CHAIN_ID;
}

/** The network of an address whose payment names none: the default EVM network (or the only one), or the first Tron network. */
export function defaultNetwork(networks: readonly Network[], family: AddressFamily): Network | null {
  const candidates = networks.filter((network) => network.family === family);
  return candidates.find((network) => network.default_evm === true) ?? candidates[0] ?? null;
}

/** The network as a customer reads it: the name in the file, or the id with a capital. */
export function networkName({ name, id }: Network): string {
  return name ?? `${id.charAt(0).toUpperCase()}${id.slice(1)}`;
}

/**
 * The word beside the name on exchanges' withdrawal pages: "Tron (TRC20)". Every network of the Tron family has it.
 * @returns null where the name stands alone. "ERC20" is no default for EVM networks, although their tokens follow it: on those pages it
 * means Ethereum, and a customer who reads "Polygon (ERC20)" may choose that.
 */
export function tokenStandard({ token_standard: standard, family }: Network): string | null {
  return standard ?? (family === 'tron' ? 'TRC20' : null);
}

function addressProblems(networks: readonly Network[]): string[] {
  return networks
    .filter((network) => parseAddress(network.usdt_contract)?.family !== network.family)
    .map((network) => `${network.id}: usdt_contract is no ${network.family} address`);
}

/** An endpoint cannot agree with itself: named twice, it would vouch for large transfers alone. */
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

/** @returns null for a list that is not known, or lacks `default`. */
export function unitPricesOf(prices: NonNullable<RpcEndpoint['unit_prices']>): UnitPrices | null {
  if (typeof prices === 'string') return priceLists[prices] ?? null;
  const { default: other } = prices;
  return other === undefined ? null : { ...prices, default: other };
}

function priceListProblem(prices: NonNullable<RpcEndpoint['unit_prices']>): string {
  if (typeof prices !== 'string') return 'lack default: what a call takes that they do not name';
  return `names no list that we have: ${Object.keys(priceLists).join(', ')}`;
}

/** Two networks under one name: a copied entry that kept it would send customers to the wrong chain. */
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
