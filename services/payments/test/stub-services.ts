import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import type { LookedUp } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import type { TransferProof } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { CLOCK_REACH_MS, intervalOf, meets } from '../src/settlement/payment-window.ts';

type ServiceName = 'quota' | 'webhook-dispatcher' | 'chain-watcher';

/** The services that payments asks, as one loopback server: the test sets what they know. */
export type StubServices = {
  url: string;
  /** What quota knows. */
  policies: Map<string, AccessPolicy>;
  /** Merchants with an endpoint at webhook-dispatcher. */
  endpoints: Set<string>;
  /** What chain-watcher has scanned; null is "nothing yet", which it also answers for a wallet that it does not know. */
  chain: {
    scannedThrough: Date | null;
    transfers: TransferObserved[];
    unknownWallets: Set<string>;
    /** Questions that name one of these wallets get 500. */
    failingWallets: Set<string>;
  };
  /**
   * How far chain-watcher reports to have scanned, by network; the networks it cannot read; the time of its database's clock (null: not
   * reported); how often it was asked for tips; and what it does before it answers.
   */
  tips: {
    heights: Map<string, number>;
    unreadable: Set<string>;
    clock: (() => Date) | null;
    asked: number;
    before: () => Promise<unknown>;
  };
  /**
   * What chain-watcher finds when it is asked to read a transfer again, by transaction id; absent by default. A function is called before
   * the answer: what it does happens while payments waits.
   */
  findings: Map<string, object | (() => Promise<object>)>;
  /** The transfers that chain-watcher was asked to read again. */
  verified: object[];
  /** What chain-watcher shows of a transaction that it looks up, by id; unknown by default. */
  lookUps: Map<string, LookedUp>;
  /** The questions about transactions. */
  lookedUp: object[];
  /** What chain-watcher has kept that proves transfers. */
  proofs: TransferProof[];
  /** These answer 500. */
  down: Set<ServiceName>;
  /** How often each was asked, except for tips. */
  asked: Record<ServiceName, number>;
  close(): Promise<void>;
};

export async function startStubServices(): Promise<StubServices> {
  const knowledge: Omit<StubServices, 'url' | 'close'> = {
    policies: new Map(),
    endpoints: new Set(),
    chain: { scannedThrough: null, transfers: [], unknownWallets: new Set(), failingWallets: new Set() },
    tips: { heights: new Map(), unreadable: new Set(), clock: null, asked: 0, before: async () => {} },
    findings: new Map(),
    verified: [],
    lookUps: new Map(),
    lookedUp: [],
    proofs: [],
    down: new Set(),
    asked: { quota: 0, 'webhook-dispatcher': 0, 'chain-watcher': 0 },
  };
  const server = createServer((request, response) => void answer(knowledge, request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    ...knowledge,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  knowledge: Omit<StubServices, 'url' | 'close'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const [, , , , merchantId = '', what = ''] = (request.url ?? '').split('/');
  const isVerification = request.url === '/internal/v1/transfers/verify';
  const isLookUp = request.url === '/internal/v1/transactions/look-up';
  const isProof = request.url === '/internal/v1/transfers/proofs';
  const isTips = request.url === '/internal/v1/tips';
  const isChain =
    isVerification || isLookUp || isProof || isTips || request.url === '/internal/v1/transfers/in-windows';
  const name = isChain ? 'chain-watcher' : what === 'policy' ? 'quota' : 'webhook-dispatcher';
  if (isTips) knowledge.tips.asked += 1;
  else knowledge.asked[name] += 1;
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  if (isTips) await knowledge.tips.before();
  if (knowledge.down.has(name)) send(500, { detail: 'out of order' });
  else if (isTips) send(200, tipsAnswer(knowledge.tips));
  else if (isVerification) {
    send(200, await findingOf(knowledge, JSON.parse(Buffer.concat(chunks).toString()) as { transaction_id: string }));
  } else if (isLookUp) {
    const question = JSON.parse(Buffer.concat(chunks).toString()) as { transaction_id: string };
    knowledge.lookedUp.push(question);
    send(200, knowledge.lookUps.get(question.transaction_id) ?? { outcome: 'unknown' });
  } else if (isProof) {
    const { transfers } = JSON.parse(Buffer.concat(chunks).toString()) as { transfers: TransferProof[] };
    const asked = transfers.map((transfer) => `${transfer.transaction_id} ${transfer.transaction_event_index}`);
    const isAsked = (proof: TransferProof) =>
      asked.includes(`${proof.transaction_id} ${proof.transaction_event_index}`);
    send(200, { proofs: knowledge.proofs.filter(isAsked) });
  } else if (isChain) {
    const question = JSON.parse(Buffer.concat(chunks).toString()) as WindowsQuestion;
    const isFailing = question.windows.some(({ recipient }) => knowledge.chain.failingWallets.has(recipient));
    if (isFailing) send(500, { detail: 'out of order' });
    else send(200, chainAnswer(knowledge.chain, question));
  } else if (name === 'quota') {
    const policy = knowledge.policies.get(merchantId);
    if (policy === undefined) send(404, { detail: 'unknown' });
    else send(200, policy);
  } else if (knowledge.endpoints.has(merchantId))
    send(200, { url: 'https://shop.example/', events: ['PAID'], version: 1 });
  else send(404, { detail: 'none' });
}

const tipsAnswer = ({ heights, unreadable, clock }: StubServices['tips']) => ({
  tips: Array.from(heights, ([network, height]) => ({ network, height, unreadable: unreadable.has(network) })),
  ...(clock !== null && { clock: clock().toISOString() }),
});

async function findingOf(
  { findings, verified }: Pick<StubServices, 'findings' | 'verified'>,
  question: { transaction_id: string },
): Promise<object> {
  verified.push(question);
  const finding = findings.get(question.transaction_id) ?? { finding: 'absent', reason: 'no_receipt' };
  return typeof finding === 'function' ? (finding as () => Promise<object>)() : finding;
}

type WindowsQuestion = {
  network: string;
  page?: { limit: number; after?: { transaction_id: string } };
  windows: { recipient: string; amount?: string; from: string; to: string }[];
};

const chainAnswer = (chain: StubServices['chain'], question: WindowsQuestion) => {
  const { transfers, ...answer } = wholeAnswer(chain, question);
  const { limit = Infinity, after } = question.page ?? {};
  const start = transfers.findIndex(({ transaction_id: id }) => id === after?.transaction_id) + 1;
  return { ...answer, transfers: transfers.slice(start, start + limit) };
};

const wholeAnswer = (chain: StubServices['chain'], question: WindowsQuestion) => ({
  scanned_through: question.windows.some(({ recipient }) => chain.unknownWallets.has(recipient))
    ? null
    : (chain.scannedThrough?.toISOString() ?? null),
  transfers: chain.transfers.filter((transfer) =>
    question.windows.some(
      ({ recipient, amount, from, to }) =>
        transfer.network === question.network &&
        transfer.to === recipient &&
        (amount === undefined || parseAmount(amount) === BigInt(transfer.amount_units)) &&
        isInWindow(transfer, Date.parse(from), Date.parse(to)),
    ),
  ),
});

/** As defined by FindTransfersInWindows. */
function isInWindow(transfer: TransferObserved, from: number, to: number): boolean {
  const { block_timestamp: block, first_seen_at: seen, live = false } = transfer;
  const sighting = {
    block_timestamp: new Date(block),
    first_seen_at: seen === undefined ? null : new Date(seen),
    live,
  };
  const mined = sighting.block_timestamp.getTime();
  const start = Math.floor(from / 1000) * 1000;
  const isNear = mined > start - CLOCK_REACH_MS && mined < to + CLOCK_REACH_MS;
  return isNear && meets(intervalOf(sighting), { start, end: to });
}
