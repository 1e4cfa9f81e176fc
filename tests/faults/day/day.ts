import { createHash } from 'node:crypto';
import { formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { webhookChoices } from '@quittance/contracts/webhook.ts';
import { chanceOf, type Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import { newWallet, policyOf } from '../../../services/payments/test/fixtures.ts';
import { cancelling, observingTransfers } from '../../../services/payments/test/model/calls.ts';
import { expiring, type Question } from '../../../services/payments/test/model/expiring.ts';
import { chainIn } from '../../../services/payments/test/model/other-services.ts';
import { isUnfinished } from '../../../services/payments/test/model/own-address.ts';
import { type Replica, startReplica } from '../../../services/payments/test/model/replica.ts';
import { beginRun, type Run, setClock } from '../../../services/payments/test/model/run.ts';
import { type ModelPayment, slotOf, transferKey } from '../../../services/payments/test/model/state.ts';
import { runAlone, timestamp } from '../../../services/payments/test/model/steps.ts';
import type { SharedDatabase } from '../../../services/payments/test/model/world.ts';
import { type Agenda, newAgenda } from './agenda.ts';
import { type Block, type Chain, CONFIRMATIONS, newChain } from './chain.ts';
import { type Create, creator } from './creating.ts';
import { type Customer, type Kind, PRICE, type Shop, shopOf, shortOf } from './shop.ts';

/** A transfer and its sender, which the service cannot know. */
export type Sent = { name: string; customer: Customer; isSecond: boolean; news: TransferObserved };

export type Day = {
  kind: Kind;
  name: string;
  shop: Shop;
  run: Run;
  /** The payment of each cart that has one, by cart name. */
  payments: Map<string, ModelPayment>;
  /** Carts that were refused at first. */
  refused: Set<string>;
  /** Carts whose payment got another transfer before their customer sent one. */
  spared: Set<string>;
  sent: Sent[];
  /** Events of each cart, in order. */
  history: { moment: number; cart: string; text: string }[];
  /** Answers in which the service and the model differ. */
  disagreements: string[];
};

type Work = Day & { agenda: Agenda; chain: Chain; chance: Chance; create: Create; replica: Replica };

const MIDNIGHT = '2031-03-11T00:00:00.000Z';
const DAY_MS = 86_400_000;
/** Before this the chain is not final past a payment's expiry, and the expiry loop asks no questions. */
const FINAL_MS = 30_000;
const EXPIRY_EVERY_MS = 10_000;
/** A payment that is still unfinished after this many rounds stays so, and is reported. */
const EXPIRY_LOOKS_MAX = 360;

/**
 * A day of one shop and one wallet, processed by the service and by the model of its rules.
 * @param number the same number and seed produce the same customers for both kinds.
 */
export async function liveThrough(
  world: SharedDatabase,
  { seed, number, kind }: { seed: number; number: number; kind: Kind },
): Promise<Day> {
  const chance = chanceOf(`${seed} day ${number}`);
  const shop = shopOf(chance.apart('shop'));
  const run = await beginRun(world, {
    ...{ ttlSeconds: shop.ttlSeconds, walletBinding: true, startsAt: MIDNIGHT, wholeSeconds: false, stories: [] },
    merchants: [{ beta: false, active: true, total: 1, daily: null, policy: 'owner', webhook: 'owner', events: 'all' }],
  });
  introduce(run);
  const work: Work = {
    ...{ kind, name: `day ${number}, ${kind} amounts`, shop, run, chance: chance.apart(kind) },
    ...{ payments: new Map(), refused: new Set(), spared: new Set(), sent: [], history: [], disagreements: [] },
    ...{ agenda: newAgenda(), chain: newChain(chance.apart('chain'), run.model.now), create: creator(run, kind) },
    replica: startReplica(world.pools[0], { ...run.parts[0], networks: [run.networks[0]!] }),
  };
  for (const customer of shop.customers) {
    work.agenda.plan(run.model.now + customer.arrivesAfter, (moment) => order(work, customer, moment));
  }
  await work.agenda.work();
  return work;
}

/** Gives the shop unlimited creations and subscribes it to all events. */
function introduce({ merchants, otherServices, model }: Run): void {
  const merchant = merchants[0]!;
  otherServices.quota.set(merchant, policyOf(merchant));
  otherServices.endpoints.set(merchant, webhookChoices);
  model.webhooks.set(merchant, webhookChoices);
}

/** A refused cart is tried again until it has a payment. If the model knows that the slot is taken, the service isn't called each time. */
async function order(day: Work, customer: Customer, moment: number): Promise<void> {
  const { run, kind, refused, agenda } = day;
  const { name: cart } = customer;
  const isTaken = kind === 'plain' && slotOf(run.model, slot(run)).some(isUnfinished);
  if (!isTaken || !refused.has(cart)) {
    await setClock(run, moment);
    const created = await day.create(cart);
    if ((created === null) !== isTaken)
      disagree(day, cart, `the creation ${created === null ? 'is refused' : 'succeeds'}`);
    if (created !== null) {
      planFor(day, customer, remember(day, cart, created));
      return;
    }
    if (!refused.has(cart)) note(day, cart, 'refused: the amount is taken');
    refused.add(cart);
  }
  const again = moment + customer.retryMs;
  if (again < Date.parse(MIDNIGHT) + DAY_MS) agenda.plan(again, (next) => order(day, customer, next));
}

function remember({ run, shop, payments, history }: Day, cart: string, created: Payment): ModelPayment {
  const { payment_id: id, payment_url: url, amount, description } = created;
  const createdAt = run.model.now;
  const payment: ModelPayment = {
    ...{ id, token: url.slice(url.lastIndexOf('/') + 1), merchant: run.merchants[0]!, ...slot(run), amount },
    ...{
      units: parseAmount(amount)!,
      priced: null,
      description,
      orderId: cart,
      status: 'PENDING',
      paidAt: null,
      cancelledAt: null,
    },
    ...{ createdAt, expiresAt: createdAt + shop.ttlSeconds * 1000, rest: null, releasedAt: null, percent: null },
  };
  run.model.payments.set(id, payment);
  payments.set(cart, payment);
  history.push({ moment: createdAt, cart, text: `created: ${amount} until ${clockTime(payment.expiresAt)}` });
  return payment;
}

const slot = ({ networks, wallets }: Run) => ({
  ...{ network: networks[0]!.id, wallet: wallets[0]!, units: parseAmount(PRICE)! },
});

/** Plans what the customer and the shop do next. */
function planFor(day: Work, customer: Customer, payment: ModelPayment): void {
  const { agenda, shop, run } = day;
  const { way, paysAfter, paysAgainAfter, leavesAfter } = customer;
  const isCancelled = shop.cancelsAbandoned && (way === 'late' || way === 'never');
  const ends = isCancelled ? run.model.now + leavesAfter : payment.expiresAt;
  if (isCancelled) agenda.plan(ends, (moment) => cancel(day, customer, payment, moment));
  agenda.plan(payment.expiresAt + FINAL_MS, (moment) => expire(day, payment, moment, EXPIRY_LOOKS_MAX));
  if (way === 'never') return;
  const pays = (way === 'late' ? ends : run.model.now) + paysAfter;
  const units = way === 'short' ? shortOf(payment.units, customer.shortage) : payment.units;
  agenda.plan(Math.max(run.model.now, pays - customer.sendsFor), (looks) => {
    if (payment.status === 'CHECKING' || payment.status === 'PAID') {
      day.spared.add(customer.name);
      day.history.push({ moment: looks, cart: customer.name, text: `sends nothing: the page says ${payment.status}` });
      return;
    }
    // Whatever happens next, and also if the page says that the time has run out.
    agenda.plan(pays, (moment) => send(day, customer, { units, moment, isSecond: false }));
    if (way !== 'twice') return;
    agenda.plan(pays + paysAgainAfter, (moment) => send(day, customer, { units, moment, isSecond: true }));
  });
}

async function cancel(day: Work, { name: cart }: Customer, { id }: ModelPayment, moment: number): Promise<void> {
  const { run, replica } = day;
  await setClock(run, moment);
  const merchant = run.merchants[0]!;
  const { status } = await replica.cancel(merchant, id);
  const expected = runAlone(run.model, cancelling(merchant, id, run.settings)) as { status: number };
  if (status !== expected.status) disagree(day, cart, `the cancellation is answered ${status}, not ${expected.status}`);
  note(day, cart, status === 200 ? 'cancelled by the shop' : 'not cancelled: it is paid or about to be');
}

/** The loop runs every second; here less often, and only while something is overdue. This changes only how soon a payment expires. */
async function expire(day: Work, payment: ModelPayment, moment: number, looks: number): Promise<void> {
  const { run, replica, chain, agenda } = day;
  if (!isUnfinished(payment) || looks === 0) return;
  await setClock(run, moment);
  const open = [...day.payments].filter(([, { status }]) => status !== 'EXPIRED');
  const questions: Question[] = [];
  const answer = await replica.expire(
    chainIn(run.otherServices, { scannedThrough: chain.finalThrough(moment), old: false, unknownWallet: null }),
    questions,
  );
  run.model.claimed.clear();
  // The service pauses between two questions about a payment, which the model treats as other work.
  const round = { networks: [slot(run).network], questions, others: true };
  const expected = runAlone(run.model, expiring(round));
  if (answer !== expected)
    disagree(day, payment.orderId!, `the expiry loop: ${String(answer)}, not ${String(expected)}`);
  for (const [cart, { status }] of open) if (status === 'EXPIRED') note(day, cart, 'expired');
  agenda.plan(moment + EXPIRY_EVERY_MS, (next) => expire(day, payment, next, looks - 1));
}

type Sending = { units: bigint; moment: number; isSecond: boolean };

/** The transfer gets into the next block. chain-watcher reads and reports it, and reports it again when it is final. */
function send(day: Work, customer: Customer, { units, moment, isSecond }: Sending): void {
  const { chain, agenda, chance } = day;
  const block = chain.blockAfter(moment);
  const news = newsOf(day, { units, block, name: `${customer.name}${isSecond ? ' second' : ''}` });
  const sent: Sent = { name: `T${day.sent.length + 1}`, customer, isSecond, news };
  day.sent.push(sent);
  const times = `in block ${clockTime(block.timestamp)}, read ${clockTime(block.readAt)}`;
  const amount = formatUnits(units, 6);
  day.history.push({
    moment,
    cart: customer.name,
    text: `${isSecond ? 'sends again' : 'sends'} ${amount}: ${sent.name} ${times}`,
  });
  const tell = (at: number, told: TransferObserved): void => {
    agenda.plan(at, () => publish(day, told));
    // Delays of the outbox and the broker.
    agenda.plan(at + chance.between(100, 900), (arrives) => receive(day, sent, told, arrives));
  };
  tell(block.readAt, news);
  tell(chain.finalAt(block), { ...news, phase: 'confirmed', version: 2, confirmations: CONFIRMATIONS });
}

function newsOf(
  { run, kind }: Day,
  { units, block, name }: { units: bigint; block: Block; name: string },
): TransferObserved {
  const { network, wallet } = slot(run);
  const hash = (text: string): string => createHash('sha256').update(`${network} ${text}`).digest('hex');
  return {
    merchant_id: run.merchants[0]!,
    network,
    transaction_id: hash(`${kind} ${name}`),
    transaction_event_index: 0,
    ...{ block_number: block.number, block_hash: `0x${hash(`block ${block.number}`)}` },
    block_timestamp: timestamp(block.timestamp),
    ...{ from: newWallet(), to: wallet, amount_units: String(units), decimals: 6 },
    ...{ phase: 'seen', version: 1, confirmations: 1, confirmations_required: CONFIRMATIONS },
    ...{ first_seen_at: timestamp(block.readAt), live: true },
  };
}

/** From now on chain-watcher's answers include it. */
function publish({ run }: Day, news: TransferObserved): void {
  const { network, transaction_id: id, transaction_event_index: index } = news;
  const key = transferKey({ network, id, index });
  run.otherServices.chain.set(key, [...(run.otherServices.chain.get(key) ?? []), news]);
}

async function receive(day: Work, { name, customer }: Sent, news: TransferObserved, moment: number): Promise<void> {
  const { run, replica } = day;
  await setClock(run, moment);
  const answer = await replica.receiveTransfers([news]);
  if (answer !== 'taken') throw new Error(`the message of ${name} is ${answer}`);
  run.model.reached = [];
  runAlone(run.model, observingTransfers([news]));
  const rules = run.model.reached.filter((reached) => /^(decided|unmatched|payment): /.test(reached));
  note(day, customer.name, `${name} ${news.phase}${rules.length === 0 ? '' : `; the model: ${rules.join('; ')}`}`);
}

const note = (day: Day, cart: string, text: string) => day.history.push({ moment: day.run.model.now, cart, text });

function disagree(day: Day, cart: string, text: string): void {
  note(day, cart, `DISAGREES: ${text}`);
  day.disagreements.push(`${day.name}: ${cart}: ${text}`);
}

/** The events of these carts, in order. */
export const historyOf = ({ history, shop }: Day, carts: ReadonlySet<string>): string[] =>
  history
    .filter(({ cart }) => carts.has(cart))
    .toSorted((one, other) => one.moment - other.moment)
    .map(({ moment, cart, text }) => {
      const { way } = shop.customers.find(({ name }) => name === cart)!;
      return `${clockTime(moment)}  ${cart} (${way})  ${text}`;
    });

const clockTime = (moment: number): string => new Date(moment).toISOString().slice(11, 23);
