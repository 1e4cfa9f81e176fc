import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OPS, type Caller, serviceNames } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { newMessageId } from '@quittance/messaging/broker/amqp-message.ts';
import { SIGNATURE_HEADER } from '@quittance/messaging/broker/signature.ts';
import { bindings } from '@quittance/messaging/broker/topology.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { inDatabase } from '../support/database.ts';
import { ownEnvironment } from '../support/journey-stack.ts';
import type { Merchant } from '../support/merchant.ts';
import { patience, publicStatus, untilStatus } from '../support/paying.ts';
import { receivedBy } from '../support/receiver.ts';
import type { Attack, Check, Target, Trial } from './attack.ts';
import { areRefused, publish, thievesOf, type Thief, type Thieves } from './support/broker-thief.ts';
import { brokerUsers } from './support/broker-users.ts';
import { observeGenuine, openVictim, settledRowsWith, type Genuine } from './support/genuine.ts';
import {
  again,
  asDeadLetter,
  definitionOf,
  definitions,
  invented,
  inventedBodies,
  newInventedIds,
  signatureBy,
  signedBy,
  toQueue,
  withSignature,
  type Forged,
  type Victim,
} from './support/invented.ts';

/** Shared by the rows. */
type Scene = { stack: StackFile; thieves: Thieves; victim: Victim; genuine: Genuine };

const keyHolders: readonly Caller[] = [...serviceNames, OPS];

export const attack: Attack = {
  name: 'forged',
  about:
    "invented messages and copies of genuine ones, published with one service's password of RabbitMQ or the administrator's",
  async checks(target) {
    const { stack } = target;
    const [thieves, victim] = await Promise.all([thievesOf(target), openVictim(stack)]);
    const scene: Scene = { stack, thieves, victim, genuine: await observeGenuine(stack) };
    return [
      ...keyHolders.map((holder) => withKey(scene, holder)),
      unsigned(scene),
      underAnotherName(scene),
      changed(scene),
      repeated(scene),
      ...[thieves.admin, ...(thieves.ofServices ?? [])].map((thief) => doors(scene, thief)),
      redriven(scene),
      nothingHappens(scene),
      couldHappen(target),
      ...brokerUsers(stack, thieves),
    ];
  },
};

/** One of each message, about the victim, as its publisher would write it, except for the signature. */
function inventions({ stack, victim }: Pick<Scene, 'stack' | 'victim'>, ids = newInventedIds()): Forged[] {
  const bodies = inventedBodies(stack, victim, ids);
  return definitions.map((definition) => invented(definition, bodies[definition.name] ?? {}));
}

async function published(trial: Trial, thief: Thief, forged: readonly Forged[]): Promise<Forged[]> {
  const stored: Forged[] = [];
  for (const one of forged) {
    const outcome = await publish(thief, one);
    if (outcome === 'done') stored.push(one);
    // A refusal by RabbitMQ counts as well.
    else trial.holds(outcome === 403, () => `${thief.name} published ${one.what}: RabbitMQ answered ${outcome}`);
  }
  return stored;
}

/** Publishes all of these; none may take effect. */
async function noneIsBelieved(trial: Trial, { stack }: Scene, thief: Thief, forged: readonly Forged[]): Promise<void> {
  await areRefused(trial, stack, await published(trial, thief, forged));
}

const withKey = (scene: Scene, holder: Caller): Check => ({
  name: `the key of ${holder} signs no message that another service publishes`,
  async run(trial) {
    const key = scene.stack.signing_keys[holder];
    const foreign = inventions(scene).filter(({ routingKey }) => definitionOf(routingKey).published_by !== holder);
    const signed = foreign.map((forged) => signedBy(key, holder, forged));
    await noneIsBelieved(trial, scene, scene.thieves.admin, signed);
  },
});

type Place = { what: string; header: (digest: Buffer, right: Buffer, theirs: Buffer) => unknown };

const text = (...parts: Buffer[]): string => Buffer.concat(parts).toString('base64url');

/** What is in place of the signature. `right` is that of its publisher, `theirs` that of another message of the same publisher. */
const places: readonly Place[] = [
  { what: 'without a signature', header: () => undefined },
  { what: 'with an empty signature', header: () => '' },
  { what: 'with a number for a signature', header: () => 1 },
  { what: 'with a list for a signature', header: (_digest, right) => [text(right)] },
  { what: 'with zeros for a signature', header: (digest) => text(Buffer.alloc(64), digest) },
  { what: 'with a signature that covers nothing', header: (_digest, right) => text(right.subarray(0, 64)) },
  { what: 'with the signature of another message', header: (_digest, _right, theirs) => text(theirs) },
  { what: 'added to the signature of another', header: (digest, _right, theirs) => text(theirs, digest) },
  { what: 'put into that of another', header: (digest, _right, theirs) => text(theirs.subarray(0, 64), digest) },
];

const SIGNATURE_BYTES = 64;

const unsigned = (scene: Scene): Check => ({
  name: 'no message takes effect without a signature, or with anything else in its place',
  async run(trial) {
    const { stack, genuine, thieves } = scene;
    const bytesOf = (header: unknown): Buffer => Buffer.from(String(header), 'base64url');
    const forged = places.flatMap(({ what, header }) =>
      inventions(scene).map((one) => {
        const { published_by: publisher } = definitionOf(one.routingKey);
        const right = bytesOf(signatureBy(stack.signing_keys[publisher], one));
        const theirs = bytesOf(genuine.messages.get(one.routingKey)?.properties.headers?.[SIGNATURE_HEADER]);
        return withSignature(one, what, header(right.subarray(SIGNATURE_BYTES), right, theirs));
      }),
    );
    await noneIsBelieved(trial, scene, thieves.admin, forged);
  },
});

const underAnotherName = (scene: Scene): Check => ({
  name: 'a genuine message has no effect under another name, or in another queue',
  async run(trial) {
    const genuine = [...scene.genuine.messages.values()];
    const renamed = genuine.flatMap((one) =>
      definitions
        .filter(({ name }) => name !== one.routingKey)
        .map(({ name }) => ({
          ...one,
          ...{ what: `${one.what} as ${name}`, routingKey: name },
          queues: bindings.filter(({ message }) => message.name === name).map(({ queue }) => queue),
          properties: { ...one.properties, type: name },
        })),
    );
    await noneIsBelieved(trial, scene, scene.thieves.admin, renamed);
    const astray = genuine.flatMap((one) =>
      bindings.filter(({ message }) => message.name !== one.routingKey).map(({ queue }) => toQueue(one, queue)),
    );
    await noneIsBelieved(trial, scene, scene.thieves.admin, astray);
  },
});

const changed = (scene: Scene): Check => ({
  name: 'a genuine message has no effect with another body, id or version',
  async run(trial) {
    const bodies = inventedBodies(scene.stack, scene.victim, newInventedIds());
    const forged = [...scene.genuine.messages.values()].flatMap((one): Forged[] => {
      const { properties, body, routingKey, what } = one;
      const own = JSON.parse(body.toString()) as object;
      return [
        { ...one, what: `${what} with a blank more`, body: Buffer.concat([body, Buffer.from(' ')]) },
        { ...one, what: `${what} with another body`, body: Buffer.from(JSON.stringify(bodies[routingKey])) },
        { ...one, what: `${what} with a field more`, body: Buffer.from(JSON.stringify({ ...own, more: 1 })) },
        { ...one, what: `${what} with another id`, properties: { ...properties, messageId: newMessageId() } },
        {
          ...{ ...one, what: `${what} of another version` },
          properties: { ...properties, headers: { ...properties.headers, version: 0 } },
        },
      ];
    });
    // Several have the same id, which identifies a dead letter, so they are sent one kind after the other.
    for (let kind = 0; kind < 5; kind += 1)
      await noneIsBelieved(
        trial,
        scene,
        scene.thieves.admin,
        forged.filter((_, index) => index % 5 === kind),
      );
  },
});

/** The tables where messages take effect. Transfers still change while blocks are added to the chain. */
const EFFECTS =
  /^(payments\.(payment|gate|wallet)|quota\.(policy|policy_change|usage_day)|webhooks\.(event|delivery|attempt))$/;

const repeated = (scene: Scene): Check => ({
  name: 'a genuine message that is published again, in any way, has no further effect',
  async run(trial) {
    const { stack, genuine, thieves } = scene;
    const { merchantId, host } = genuine.merchant;
    const before = await settledRowsWith(stack, [merchantId], EFFECTS);
    const told = (await receivedBy(stack, host)).length;
    const messages = [...genuine.messages.values()];
    const copies = [...messages, ...messages.flatMap((one) => one.queues.map((queue) => toQueue(one, queue)))];
    for (const copy of copies) trial.same(copy.what, await publish(thieves.admin, copy), 'done');
    // Later messages in each queue have been handled.
    await noneIsBelieved(trial, scene, thieves.admin, inventions(scene));
    trial.same('rows about the merchant', await settledRowsWith(stack, [merchantId], EFFECTS), before);
    trial.same('webhooks', (await receivedBy(stack, host)).length, told);
  },
});

const doors = (scene: Scene, thief: Thief): Check => ({
  name: `no invented message takes effect, published in any way with the RabbitMQ password of ${thief.name}`,
  async run(trial) {
    const forged = [
      ...byThief(scene, thief),
      ...byThief(scene, thief).flatMap((one) => one.queues.map((queue) => toQueue(one, queue))),
    ];
    await noneIsBelieved(trial, scene, thief, forged);
  },
});

/** Without a signature; with one where the thief has the service's key. Messages that the service itself publishes are not forgeries. */
function byThief(scene: Scene, thief: Thief): Forged[] {
  const holder = serviceNames.find((name) => name === thief.name);
  return inventions(scene).flatMap((one) => {
    if (holder === undefined || definitionOf(one.routingKey).published_by === holder) return [one];
    return [one, signedBy(scene.stack.signing_keys[holder], holder, again(one))];
  });
}

const redriven = (scene: Scene): Check => ({
  name: 'no invented dead letter takes effect when operators send it back',
  async run(trial) {
    const { stack, thieves } = scene;
    // The operators' filter; other dead letters stay where they are.
    const cause = `forged-${randomBytes(4).toString('hex')}`;
    const stored: Forged[] = [];
    for (const thief of [thieves.admin, ...(thieves.ofServices ?? [])]) {
      const letters = byThief(scene, thief).flatMap((one) =>
        bindings.filter(({ queue }) => one.queues.includes(queue)).map((binding) => asDeadLetter(one, binding, cause)),
      );
      stored.push(...(await published(trial, thief, letters)));
    }
    for (const { queue } of bindings) {
      const count = stored.filter(({ queues }) => queues.includes(queue)).length;
      trial.same(`dead letters sent back to ${queue}`, await redrive(stack, queue, cause), count);
    }
    await areRefused(trial, stack, stored);
  },
});

/** With the operator's command. @returns how many were sent back. */
async function redrive(stack: StackFile, queue: string, cause: string): Promise<number> {
  const main = join(repositoryRoot, 'packages', 'ops', 'src', 'main.ts');
  const words = ['dead-letter', 'redrive', queue, '--cause', cause, '--json', '--actor', 'attacks'];
  const env = { ...ownEnvironment(), AMQP_URL: stack.amqp_url };
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...words], { env });
  return (JSON.parse(stdout) as { redriven: number }).redriven;
}

const nothingHappens = (scene: Scene): Check => ({
  name: 'a forged message pays no payment, notifies no merchant and changes no row; genuine messages still work afterwards',
  async run(trial) {
    const { stack, thieves } = scene;
    const victim = await openVictim(stack);
    const { merchant, payment } = victim;
    const ids = newInventedIds();
    const needles = [merchant.merchantId, ...Object.values(ids)];
    const before = await settledRowsWith(stack, [merchant.merchantId]);
    const forged = inventions({ stack, victim }, ids);
    await noneIsBelieved(trial, scene, thieves.admin, [
      ...forged,
      ...keyHolders.flatMap((holder) =>
        forged
          .filter(({ routingKey }) => definitionOf(routingKey).published_by !== holder)
          .map((one) => signedBy(stack.signing_keys[holder], holder, again(one))),
      ),
    ]);
    trial.same('rows', await settledRowsWith(stack, needles), before);
    trial.same('the payment', (await publicStatus(stack, payment)).status, 'PENDING');
    trial.same('webhooks', await receivedBy(stack, merchant.host), []);
    const genuine = await merchant.created({ amount: '7.25' });
    await payOnChain(stack.chain, genuine.merchant_wallet, genuine.amount);
    await untilStatus(stack, genuine, 'PAID');
    trial.same('webhooks of the genuine payment', await paidEvents(stack, merchant), [[genuine.payment_id, true]]);
    trial.same('the other payment', (await publicStatus(stack, payment)).status, 'PENDING');
  },
});

/** The payment of each PAID event, and whether its signature is correct. */
function paidEvents(stack: StackFile, { host }: Merchant): Promise<[string, boolean][]> {
  return eventually(async () => {
    const received = await receivedBy(stack, host);
    const paid = received.filter(({ raw_body: body }) => body.includes('"status":"PAID"'));
    if (paid.length === 0) throw new Error(`${host} has received no PAID`);
    return paid.map(({ body, verified }) => [body.payment_id, verified]);
  }, patience);
}

/** Without this, the rows above would also hold for messages that never have an effect. */
const couldHappen = ({ stack, traces, onEnd }: Target): Check => ({
  name: 'the same messages take effect with the keys of their publishers',
  async run(trial) {
    if (traces === null) {
      trial.skip(
        'it has a payment PAID that nobody paid, which is done to no stack that was started for something else',
      );
      return;
    }
    const { admin } = await thievesOf({ stack, traces, onEnd });
    const victim = await openVictim(stack);
    const signed = inventions({ stack, victim }).map((one) => {
      const { published_by: publisher } = definitionOf(one.routingKey);
      return signedBy(stack.signing_keys[publisher], publisher, one);
    });
    // A blocked merchant gets nothing, so the payment comes first.
    const [money, others] = [true, false].map((isMoney) =>
      signed.filter(({ routingKey }) => (routingKey === 'TransferObserved') === isMoney),
    );
    for (const one of money!) trial.same(one.what, await publish(admin, one), 'done');
    await untilStatus(stack, victim.payment, 'PAID');
    trial.same('its webhooks', await paidEvents(stack, victim.merchant), [[victim.payment.payment_id, true]]);
    for (const one of others!) trial.same(one.what, await publish(admin, one), 'done');
    for (const { what, properties, queues } of signed)
      trial.same(`${what}: effects`, await effectsOf(stack, properties.messageId, queues.length), queues.length);
  },
});

/** The number of queues in which a message has taken effect, when it is the expected one. */
async function effectsOf(stack: StackFile, messageId: string, wanted: number): Promise<number> {
  let count = 0;
  await eventually(async () => {
    const rows = await inDatabase(stack, INBOXES, [messageId]);
    count = rows.length;
    if (count < wanted) throw new Error('not all of them have taken effect');
  }).catch(() => undefined);
  return count;
}

const INBOXES = ['payments', 'chain', 'webhooks', 'quota']
  .map((schema) => `select handler from ${schema}.inbox where message_id = $1`)
  .join(' union all ');
