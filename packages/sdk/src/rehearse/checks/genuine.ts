import { fault, ok, taking, unseen, withoutEffects, type Check, type Verdict } from '../check.ts';
import { paidEvent } from '../events.ts';
import { isTaken, told, type Answer } from '../send.ts';

/** As many as one process of Quittance sends to a merchant at the same time. */
const AT_ONCE = 8;

export const genuine: Check = {
  id: 'genuine',
  title: 'A genuine PAID event must be answered with 2xx',
  why: 'Any other answer is a failure: the event is sent again for three days, and the order stays unpaid. Nothing else can be checked before this.',
  todo: 'Check the receiver’s log.',
  play: async (stage) => {
    const answer = await stage.pay(stage.nextPayment());
    return () => (isTaken(answer) ? ok : { ...fault(told(answer)), todo: todoFor(answer) });
  },
};

function todoFor({ status, problem }: Answer): string {
  const look = 'If it looks the order up, give it orders to find: --payments.';
  if (problem === 'ECONNREFUSED' || problem === 'ENOTFOUND') return 'Start the receiver there, or fix the URL.';
  if (status === null) {
    return 'Check that it answers in time, by saving the event first and working afterwards; that it speaks HTTP there; and that its certificate is trusted here.';
  }
  if (status >= 300 && status < 400) return 'Redirects are never followed: use the URL that they lead to.';
  if (status === 404 || status === 405) return `Fix the path of the URL. ${look}`;
  if (status >= 500) return `Check the receiver’s log. ${look}`;
  return `Give the receiver the keys named above, and let it check the signature over the raw body. ${look}`;
}

export const effect: Check = {
  id: 'effect',
  title: 'A genuine PAID event must have its effect, once',
  why: 'The answer says that the event was received, so it never comes again: work that was not done then is never done.',
  todo: 'Fulfil the order before the answer, or save the event with it; check that --effects counts by payment_id or order_id.',
  play: async (stage) => {
    const payment = stage.nextPayment();
    const answer = await stage.pay(payment);
    return (effects): Verdict => {
      if (effects === null) return unseen(withoutEffects);
      const count = effects.of(payment);
      return count === 1 ? ok : fault(`one event, ${told(answer)}; effects: ${count}`);
    };
  },
};

export const repeated: Check = {
  id: 'repeated',
  title: 'The same event again must be answered with 2xx, without a second effect',
  why: 'An event comes again whenever an answer was lost, and when you retry it. Goods would be sent twice, or a refusal would keep it coming.',
  todo: 'Save event_id in a unique column, in the transaction of the effect. If it exists already, answer 2xx and do nothing.',
  play: async (stage) => {
    const payment = stage.nextPayment();
    const event = paidEvent(payment);
    await stage.pay(payment, event);
    const again = [await stage.pay(payment, event), await stage.pay(payment, event)];
    return (effects): Verdict => {
      const refused = again.find((answer) => !isTaken(answer));
      if (refused !== undefined) return fault(`the repeat: ${told(refused)}`);
      if (effects === null) return unseen(withoutEffects);
      const count = effects.of(payment);
      return count === 1 ? ok : fault(`sent three times, one after the other; effects: ${count}`);
    };
  },
};

export const copies: Check = {
  id: 'copies',
  title: `${AT_ONCE} copies of an event at once must have one effect`,
  why: 'A repeat can overtake the first attempt, and reach another process of yours. Reading first and writing afterwards lets both through.',
  todo: 'Let the database decide: insert event_id into a unique column, in the transaction of the effect, and continue only if it was inserted.',
  after: ['repeated'],
  play: async (stage) => {
    const payment = stage.nextPayment();
    const event = paidEvent(payment);
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => stage.pay(payment, event)));
    // A copy may be refused while another one is being handled, but then the event is known.
    const afterwards = await stage.pay(payment, event);
    return (effects): Verdict => {
      if (!answers.some(isTaken)) return fault(`none was accepted: ${answers.map(told).join(', ')}`);
      if (!isTaken(afterwards)) return fault(`the next repeat: ${told(afterwards)}`);
      if (effects === null) return unseen(withoutEffects);
      const count = effects.of(payment);
      return count === 1 ? ok : fault(`effects: ${count}`);
    };
  },
};

export const several = taking({
  id: 'several',
  title: `Events of ${AT_ONCE} payments at once must be accepted`,
  why: `Up to ${AT_ONCE} come at once from each process of Quittance. An event that is not answered in time has failed and is sent again, until events are held back.`,
  todo: 'Save the event, answer, and do slow work afterwards; handle requests concurrently; exclude the endpoint from rate limits.',
  atOnce: true,
  events: (nextPayment) =>
    Array.from({ length: AT_ONCE }, (_, index) => {
      const payment = nextPayment();
      return { what: `payment ${index + 1}`, payment, event: paidEvent(payment) };
    }),
});
