import type { Author } from '@quittance/contracts/author.ts';
import {
  ReadNotices,
  SendTestNotice,
  SetNotices,
  type NoticeChannel,
  type Notices,
  type NoticesChoice,
  type TestedChannel,
} from '@quittance/contracts/http/notifier.ts';
import { ConnectNotices } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { NOTIFIER } from '@quittance/contracts/service-name.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { readAnswer } from '@quittance/http/client/request.ts';
import { HttpError, invalid, unavailable } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { KeyVault } from '@quittance/runtime/key-vault.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import type { Senders } from '../channels/channel.ts';
import { readChannels } from '../notices/notice.sql.ts';
import { messageOf } from '../notices/text.ts';
import { channelsOf, destinationsOf, problemsOf } from './destinations.ts';
import { beginTest, findMerchant, saveKey, saveMerchant, slackSecretOf } from './settings.sql.ts';

/** As long as a reason may be. */
const REASON_MAX = 1_000;

type Dependencies = {
  pool: Pool;
  vault: KeyVault;
  dispatcher: ServiceClient;
  senders: Senders;
  consoleUrl: string;
  logger: Logger;
};

/** Where a merchant's notices go: read, changed and tested by its people, or by support. */
export const settingsRoutes = (dependencies: Dependencies): Route[] => [
  callRoute(ReadNotices, ({ params }) => read(dependencies, params.merchant_id)),
  callRoute(SetNotices, ({ params, body, author }) => set(dependencies, params.merchant_id, body, author)),
  callRoute(SendTestNotice, async ({ params, author }) => ({
    channels: await test(dependencies, params.merchant_id, author),
  })),
];

const availableOf = (senders: Senders): NoticeChannel[] =>
  (Object.keys(senders) as NoticeChannel[]).filter((channel) => senders[channel] !== null);

const notChosen = (): HttpError => new HttpError(404, 'This merchant has not chosen notices');

async function read({ pool, senders }: Dependencies, merchantId: string): Promise<Notices> {
  const merchant = await findMerchant(pool, merchantId);
  if (merchant === null) throw notChosen();
  const { language, email, telegram_chat, slack } = merchant;
  const channels = (await readChannels(pool, merchantId, channelsOf(merchant))).map(withTextTimes);
  const available = availableOf(senders);
  return { language, email, telegram_chat, slack: slack !== null, available, channels };
}

/**
 * The endpoint is changed first: after a 503 nothing is stored here, and the endpoint may or may not be changed. If this
 * process ends in between, the next delivery finds its key missing and renews it; see receiving/signing-keys.ts.
 */
async function set(
  dependencies: Dependencies,
  merchantId: string,
  choice: NoticesChoice,
  author: Author,
): Promise<Notices> {
  const { pool, vault, dispatcher, senders } = dependencies;
  const before = await findMerchant(pool, merchantId);
  const available = availableOf(senders);
  const problems = problemsOf(choice, { hadSlack: before !== null && before.slack !== null, available });
  if (problems.length > 0) throw invalid(...problems);
  const asNotifier = { actor: NOTIFIER, reason: onBehalfOf(author) };
  const answer = await dispatcher.send(ConnectNotices, { params: { merchant_id: merchantId }, author: asNotifier });
  if (answer.status !== 200)
    throw unavailable(new Error(`webhook-dispatcher answered ${answer.status}; is WEBHOOK_NOTIFIER set there?`));
  const { key_id: keyId, signing_key: signingKey } = readAnswer(ConnectNotices, answer);
  const { slack_url: url } = choice;
  const slack = typeof url === 'string' ? vault.seal(slackSecretOf(merchantId), url) : url;
  await transaction(pool, async (tx) => {
    await saveMerchant(tx, merchantId, choice, { slack, changedBy: author.actor });
    await saveKey(tx, merchantId, keyId, vault.seal(keyId, signingKey));
  });
  return read(dependencies, merchantId);
}

/** Only a person's own token may name that person as the actor, so the reason does. */
const onBehalfOf = ({ actor, reason }: Author): string => `${actor}: ${reason}`.slice(0, REASON_MAX).toWellFormed();

async function test(
  { pool, vault, senders, consoleUrl, logger }: Dependencies,
  merchantId: string,
  { actor }: Author,
): Promise<TestedChannel[]> {
  const merchant = await findMerchant(pool, merchantId);
  if (merchant === null) throw notChosen();
  if (!(await beginTest(pool, merchantId)))
    throw new HttpError(429, 'Test notices were sent less than a minute ago', { 'retry-after': '60' });
  logger.info({ merchant_id: merchantId, actor }, 'test notices are sent');
  const content = { kind: 'test', amount: null, payment_id: null, order_id: null, description: null } as const;
  const message = messageOf(newId('evt'), content, { language: merchant.language, consoleUrl });
  const to = destinationsOf(merchant, vault);
  return Promise.all(
    channelsOf(merchant).map(async (channel) => {
      const outcome = await senders[channel]?.(to, message);
      return { channel, problem: outcome === undefined ? 'the operator has not set it up' : outcome.problem };
    }),
  );
}
