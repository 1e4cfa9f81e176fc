import { emailProblem } from '@quittance/contracts/email.ts';
import { parseEndpointUrl } from '@quittance/contracts/endpoint-url.ts';
import { noticeChannels, type NoticeChannel, type NoticesChoice } from '@quittance/contracts/http/notifier.ts';
import type { ValidationItem } from '@quittance/http/errors.ts';
import type { KeyVault } from '@quittance/runtime/key-vault.ts';
import type { Destinations } from '../channels/channel.ts';
import { slackSecretOf, type Merchant } from './settings.sql.ts';

/** @throws Error if the Slack URL does not open. */
export const destinationsOf = (
  { merchant_id, email, telegram_chat, slack }: Merchant,
  vault: KeyVault,
): Destinations => ({
  ...{ email, telegram: telegram_chat },
  slack: slack === null ? null : vault.open(slackSecretOf(merchant_id), slack),
});

/** The channels that a merchant uses. */
export const channelsOf = ({ email, telegram_chat, slack }: Omit<Merchant, 'merchant_id' | 'language'>) => {
  const used = { email: email.length > 0, telegram: telegram_chat !== null, slack: slack !== null };
  return noticeChannels.filter((channel) => used[channel]);
};

/**
 * What is wrong with a choice, whose form the call has checked. A Slack URL has the rules of webhook URLs.
 * @param hadSlack whether a URL is stored, which an absent one keeps.
 * @param available the channels that the operator has set up.
 */
export function problemsOf(
  { email, telegram_chat, slack_url }: NoticesChoice,
  { hadSlack, available }: { hadSlack: boolean; available: readonly NoticeChannel[] },
): ValidationItem[] {
  const problems: ValidationItem[] = [];
  const add = (field: string, reason: string | null) => reason !== null && problems.push({ field, reason });
  email.forEach((address, index) => add(`email[${index}]`, emailProblem(address)));
  if (typeof slack_url === 'string') {
    const check = parseEndpointUrl(slack_url);
    if (!check.ok) add('slack_url', check.reason);
  }
  const hasSlack = slack_url === undefined ? hadSlack : slack_url !== null;
  const used = { email: email.length > 0, telegram_chat: telegram_chat !== null, slack_url: hasSlack };
  if (!Object.values(used).includes(true)) add('email', 'or another channel is required');
  if (used.email && !available.includes('email'))
    add('email', 'can not be used: the operator has set up no mail server');
  if (used.telegram_chat && !available.includes('telegram'))
    add('telegram_chat', 'can not be used: the operator has set up no bot');
  return problems;
}
