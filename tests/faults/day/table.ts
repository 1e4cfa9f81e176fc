import type { Day } from './day.ts';
import type { Judgement, Outcome } from './judge.ts';
import { CARTS, type Kind } from './shop.ts';

/** Counts of each result on all days, by kind. */
export type Count = Record<Kind, Map<string, number>>;

export const newCount = (): Count => ({ unique: new Map(), plain: new Map() });

const isWay =
  (way: Outcome['sent']['customer']['way'], isSecond = false) =>
  ({ sent }: Outcome): boolean =>
    sent.customer.way === way && sent.isSecond === isSecond;
const pays = ({ pays: paid }: Outcome): boolean => paid !== null;
const isOwn = ({ sent, pays: paid }: Outcome): boolean => paid === sent.customer.name;
const isWrong = (outcome: Outcome): boolean => pays(outcome) && !isOwn(outcome);
const isAmbiguous = (outcome: Outcome): boolean => !pays(outcome) && outcome.reason === 'ambiguous';
const isUnmatched = (outcome: Outcome): boolean => !pays(outcome) && !isAmbiguous(outcome);
const because =
  (reason: Outcome['reason']) =>
  (outcome: Outcome): boolean =>
    isUnmatched(outcome) && outcome.reason === reason;
const namesSender = ({ sent, candidates }: Outcome): boolean => candidates.includes(sent.customer.name);
const isAlone = ({ candidates }: Outcome): boolean => candidates.length === 1;
/** A correct transfer: in time, the exact amount, for the first time. */
const isProper = (outcome: Outcome): boolean => isWay('in time')(outcome) || isWay('twice')(outcome);

type Row = readonly [name: string, counts: (outcome: Outcome) => boolean];

const ofTransfers: readonly Row[] = [
  ['transfers', () => true],
  ['  exact and in time', isProper],
  ['  late', isWay('late')],
  ['  short', isWay('short')],
  ['  the second of two', isWay('twice', true)],
  ['paid the payment of their sender', isOwn],
  ['WRONGLY ATTRIBUTED: paid the payment of another customer', isWrong],
  ['  was late', (one) => isWrong(one) && isWay('late')(one)],
  ['  was the second of two', (one) => isWrong(one) && isWay('twice', true)(one)],
  ['  was short', (one) => isWrong(one) && isWay('short')(one)],
  ['  was exact and in time', (one) => isWrong(one) && isProper(one)],
];
const listed = '  of all these, listed at the sender’s payment (paid_another)';
const ofTheRest: readonly Row[] = [
  ['ambiguous', isAmbiguous],
  ['  the sender’s payment is a candidate', (one) => isAmbiguous(one) && namesSender(one)],
  ['  it is not', (one) => isAmbiguous(one) && !namesSender(one)],
  ['unmatched', isUnmatched],
  ['  reason late', because('late')],
  ['  reason after_cancel', because('after_cancel')],
  ['  reason underpaid', because('underpaid')],
  ['  reason overpaid', because('overpaid')],
  ['  reason duplicate', because('duplicate')],
  ['  without a reason', because(null)],
  ['of the unmatched, candidates are', isUnmatched],
  ['  only the sender’s payment', (one) => isUnmatched(one) && namesSender(one) && isAlone(one)],
  ['  it and others', (one) => isUnmatched(one) && namesSender(one) && !isAlone(one)],
  ['  several others, without it', (one) => isUnmatched(one) && !namesSender(one) && one.candidates.length > 1],
  ['  one of another customer (named wrongly)', (one) => isUnmatched(one) && !namesSender(one) && isAlone(one)],
  ['  none', (one) => isUnmatched(one) && one.candidates.length === 0],
  ['exact and in time, and did not pay the sender’s payment', (one) => isProper(one) && !isOwn(one)],
];

export function countDay(
  count: Count,
  { kind, payments, refused, spared }: Day,
  { outcomes, listed: seen }: Judgement,
): void {
  const add = (name: string, more: number): void => void count[kind].set(name, (count[kind].get(name) ?? 0) + more);
  add('days', 1);
  add('carts', CARTS);
  add('  refused at first, created later', [...refused].filter((cart) => payments.has(cart)).length);
  add('  never created', CARTS - payments.size);
  add('  sent nothing: the page said that money had arrived', spared.size);
  for (const [name, counts] of ofTransfers) add(name, outcomes.filter(counts).length);
  add(listed, seen);
  for (const [name, counts] of ofTheRest) add(name, outcomes.filter(counts).length);
}

/** One table of both kinds, with percentages of all transfers in brackets. */
export function tableOf({ unique, plain }: Count): string[] {
  const names = [...new Set([...unique.keys(), ...plain.keys()])];
  const width = Math.max(...names.map(({ length }) => length));
  const cell = (of: Map<string, number>, name: string): string => {
    const [number, all] = [of.get(name) ?? 0, of.get('transfers') ?? 0];
    const isShare = names.indexOf(name) > names.indexOf('transfers') && all > 0;
    return `${number}${isShare ? ` (${((100 * number) / all).toFixed(1)} %)` : ''}`.padStart(18);
  };
  return [
    `${''.padEnd(width)}${'unique amounts'.padStart(18)}${'plain amounts'.padStart(18)}`,
    ...names.map((name) => `${name.padEnd(width)}${cell(unique, name)}${cell(plain, name)}`),
  ];
}
