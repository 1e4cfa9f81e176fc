import type { AccessPolicy } from '@quittance/contracts/access.ts';
import { AccessChanged } from '@quittance/contracts/messages/access-changed.ts';
import { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { compileSchema, describeErrors } from '@quittance/contracts/schema.ts';
import { timestampSchema } from '@quittance/contracts/timestamp.ts';
import { type ServiceClient, ServiceUnavailable } from '@quittance/http/client/client.ts';
import type { ServiceResponse } from '@quittance/http/client/request.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';

/** Those who know better when what payments has heard would make it refuse. Each method throws ServiceUnavailable for no answer. */
export type Owners = {
  /** The policy in force, or null for a merchant that quota does not know (yet). */
  policy(merchantId: string): Promise<AccessPolicy | null>;
  /** Whether the merchant has configured a webhook endpoint. */
  hasWebhook(merchantId: string): Promise<boolean>;
};

/** Transfers of one amount (decimal text) to one wallet, in blocks from `from` up to, and without, `to`. */
type ChainWindow = { recipient: string; amount: string; from: Date; to: Date };

type ChainAnswer = {
  /** Every block up to this moment is final and was scanned without a gap; null before the first. */
  scannedThrough: Date | null;
  transfers: TransferObserved[];
};

export type Chain = {
  /** @param windows at most 100; none to hear how far the whole network is scanned. @throws ServiceUnavailable for no answer. */
  transfersIn(network: string, windows: readonly ChainWindow[]): Promise<ChainAnswer>;
};

/** What the chain said of a transfer when it was asked. For the reasons see chain-watcher's route. */
export type Finding =
  | ({ finding: 'present'; is_final: boolean } & Pick<TransferObserved, (typeof describing)[number]>)
  | { finding: 'absent'; reason: (typeof absences)[number] }
  | { finding: 'undecided'; reason: (typeof indecisions)[number] };

/** The fields that the message describes a transfer with, each with its schema. */
const describing = [
  'block_number',
  'block_hash',
  'block_timestamp',
  'from',
  'to',
  'amount_units',
  'decimals',
  'confirmations',
  'confirmations_required',
] as const satisfies (keyof TransferObserved)[];

const absences = ['no_receipt', 'orphaned', 'failed', 'no_event', 'no_transfer'] as const;
const indecisions = ['network_unknown', 'network_halted'] as const;

export type TransferVerifier = {
  /** Has the chain looked at anew, past everything that is stored. @throws ServiceUnavailable for no answer. */
  verify(id: Pick<TransferObserved, 'network' | 'transaction_id' | 'transaction_event_index'>): Promise<Finding>;
};

export type TipReader = {
  /** Height of the last block that chain-watcher has scanned, by network. @throws ServiceUnavailable for no answer. */
  tips(): Promise<ReadonlyMap<string, number>>;
};

export function createOwners({ quota, webhooks }: { quota: ServiceClient; webhooks: ServiceClient }): Owners {
  return {
    async policy(merchantId) {
      const answer = await quota.request({ method: 'GET', path: `/internal/v1/merchants/${merchantId}/policy` });
      return answer.status === 404 ? null : read('quota', answer, checkPolicy);
    },
    async hasWebhook(merchantId) {
      const answer = await webhooks.request({ method: 'GET', path: `/internal/v1/merchants/${merchantId}/webhook` });
      if (answer.status === 404) return false;
      read('webhook-dispatcher', answer, (body) => body);
      return true;
    },
  };
}

export function createChain({ watcher }: { watcher: ServiceClient }): Chain {
  return {
    async transfersIn(network, windows) {
      const answer = await watcher.request({
        method: 'POST',
        path: '/internal/v1/transfers/in-windows',
        json: {
          network,
          windows: windows.map(({ from, to, ...slot }) => ({ ...slot, from: rfc3339(from), to: rfc3339(to) })),
        },
        // A question, although asked by POST.
        idempotent: true,
      });
      const body = read('chain-watcher', answer, checkWindows);
      return {
        scannedThrough: body.scanned_through === null ? null : new Date(body.scanned_through),
        transfers: body.transfers.map((transfer) => TransferObserved.parse(transfer)),
      };
    },
  };
}

/** @param watcher with a deadline that leaves chain-watcher time to ask several nodes. */
export function createTransferVerifier({ watcher }: { watcher: ServiceClient }): TransferVerifier {
  return {
    async verify({ network, transaction_id, transaction_event_index }) {
      const answer = await watcher.request({
        method: 'POST',
        path: '/internal/v1/transfers/verify',
        json: { network, transaction_id, transaction_event_index },
        // A question, although asked by POST.
        idempotent: true,
      });
      return read('chain-watcher', answer, checkFinding);
    },
  };
}

export function createTipReader({ watcher }: { watcher: ServiceClient }): TipReader {
  return {
    async tips() {
      const answer = await watcher.request({ method: 'GET', path: '/internal/v1/tips' });
      const { tips } = read('chain-watcher', answer, checkTips);
      return new Map(tips.map(({ network, height }) => [network, height]));
    },
  };
}

/** The message carries the policy and when it changed; asked for, quota answers the policy alone. */
const isPolicy = compileSchema<AccessPolicy>({
  ...AccessChanged.schema,
  required: AccessChanged.schema.required.filter((field) => field !== 'changed_at'),
});

function checkPolicy(body: unknown): AccessPolicy {
  if (isPolicy(body)) return body;
  throw new Error(`no access policy: ${describeErrors(isPolicy.errors)}`);
}

const isWindows = compileSchema<{ scanned_through: string | null; transfers: unknown[] }>({
  type: 'object',
  required: ['scanned_through', 'transfers'],
  properties: {
    scanned_through: { ...timestampSchema, type: ['string', 'null'] },
    transfers: { type: 'array' },
  },
});

function checkWindows(body: unknown): { scanned_through: string | null; transfers: unknown[] } {
  if (isWindows(body)) return body;
  throw new Error(`no answer about windows: ${describeErrors(isWindows.errors)}`);
}

type TipsAnswer = { tips: { network: string; height: number }[] };

const isTips = compileSchema<TipsAnswer>({
  type: 'object',
  required: ['tips'],
  properties: {
    tips: {
      type: 'array',
      items: {
        type: 'object',
        required: ['network', 'height'],
        properties: { network: { type: 'string' }, height: { type: 'integer', minimum: 0 } },
      },
    },
  },
});

function checkTips(body: unknown): TipsAnswer {
  if (isTips(body)) return body;
  throw new Error(`no answer about tips: ${describeErrors(isTips.errors)}`);
}

const isFinding = compileSchema<Finding>({
  type: 'object',
  anyOf: [
    findingSchema('present', {
      is_final: { type: 'boolean' },
      ...Object.fromEntries(describing.map((field) => [field, TransferObserved.schema.properties[field]])),
    }),
    findingSchema('absent', { reason: { enum: absences } }),
    findingSchema('undecided', { reason: { enum: indecisions } }),
  ],
});

function findingSchema(finding: Finding['finding'], properties: object): object {
  return {
    type: 'object',
    required: ['finding', ...Object.keys(properties)],
    properties: { finding: { const: finding }, ...properties },
  };
}

function checkFinding(body: unknown): Finding {
  if (isFinding(body)) return body;
  throw new Error(`no finding about a transfer: ${describeErrors(isFinding.errors)}`);
}

/** @throws ServiceUnavailable for any answer that is not the one asked for: the caller then knows as little as without one. */
function read<T>(service: string, answer: ServiceResponse, check: (body: unknown) => T): T {
  try {
    if (answer.status !== 200) throw new Error(`it answered ${answer.status}`);
    return check(JSON.parse(answer.body.toString('utf8')));
  } catch (error) {
    throw new ServiceUnavailable(service, { cause: error });
  }
}
