import { html, type Html } from '@quittance/checkout-page/html.ts';
import {
  NOTICE_EMAILS_MAX,
  noticeLanguages,
  ReadNotices,
  SendTestNotice,
  SetNotices,
  type NoticeChannel,
  type Notices,
} from '@quittance/contracts/http/notifier.ts';
import { NOTIFIER } from '@quittance/contracts/service-name.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { page } from '../frame.ts';
import { htmlReply, paramsOf, type Context, type OwnVisit } from '../page-route.ts';
import { knownOr, partOf } from '../services.ts';
import { show } from '../view.ts';
import { areaField, button, choiceField, fieldsForm, given, ownAction, ownForm, textField } from './form.ts';
import { authorOf } from './keys.ts';

export const NOTICES = '/my/notices';

const channelNames: Record<NoticeChannel, string> = { email: 'E-mail', telegram: 'Telegram', slack: 'Slack' };
const languageNames = new Intl.DisplayNames(['en'], { type: 'language' });

export const hasNotices = ({ clients }: Context): boolean => clients[NOTIFIER] !== undefined;

/** Messages to people, for a shop without a backend. */
export const noticeRoutes = (context: Context): Route[] => [
  ...ownForm(context, {
    path: NOTICES,
    title: 'Notices',
    role: 'owner',
    show: async (visit, form) => {
      if (!hasNotices(context)) return html`<p>Notices are not set up here. Ask support whether they can be.</p>`;
      const now = await partOf(knownOr(null, visit.services.call(ReadNotices, paramsOf(visit.viewer))));
      return html`<p>
          Without a shop system, be told by e-mail, Telegram or Slack when a payment is paid, or when money arrives that
          pays nothing. Notices take the place of a webhook address.
        </p>
        ${show(now, (known) => html`${state(visit, known)} ${noticesForm(visit, form, known)}`)}`;
    },
    act: async (visit, form) => {
      const emails = (given(form, 'email') ?? '').split(/[\s,]+/).filter((address) => address !== '');
      const slack = given(form, 'slack_url');
      const body = {
        ...{ language: given(form, 'language') ?? 'en', email: [...new Set(emails)] },
        telegram_chat: given(form, 'telegram_chat'),
        ...(slack !== null && { slack_url: slack }),
      };
      await visit.services.call(SetNotices, { ...paramsOf(visit.viewer), body, author: authorOf(visit) });
      return NOTICES;
    },
  }),
  ownAction(context, '/my/notices/test', async (visit) => {
    const tested = await visit.services.call(SendTestNotice, { ...paramsOf(visit.viewer), author: authorOf(visit) });
    const results = tested.channels.map(
      ({ channel, problem }) => html`<li>${channelNames[channel]}: ${problem ?? 'sent'}</li>`,
    );
    const content = html`<ul>
        ${results}
      </ul>
      <p><a href="${NOTICES}">Back to notices</a></p>`;
    return htmlReply(200, page('Test notice', visit.viewer, content));
  }),
];

function state(visit: OwnVisit, notices: Notices | null): Html {
  if (notices === null) return html``;
  const problems = notices.channels.filter(({ problem }) => problem !== null);
  return html`${problems.map(
    ({ channel, problem }) => html`<p class="problem" role="alert">${channelNames[channel]}: ${problem ?? ''}</p>`,
  )}
  ${button(visit, '/my/notices/test', 'Send a test notice')}`;
}

function noticesForm(visit: OwnVisit, form: URLSearchParams, now: Notices | null): Html {
  const isSent = form.has('language');
  // Before the first choice, the answer does not say which channels there are; a wrong one is refused.
  const has = (channel: NoticeChannel): boolean => now === null || now.available.includes(channel);
  return fieldsForm(
    visit,
    NOTICES,
    [
      choiceField('language', 'Language', noticeLanguages, (isSent ? given(form, 'language') : now?.language) ?? 'en', {
        names: Object.fromEntries(noticeLanguages.map((code) => [code, languageNames.of(code) ?? code])),
      }),
      has('email')
        ? areaField({
            ...{
              name: 'email',
              label: 'E-mail addresses',
              value: isSent ? given(form, 'email') : (now?.email.join('\n') ?? null),
            },
            help: `One a line, at most ${NOTICE_EMAILS_MAX}.`,
          })
        : html``,
      has('telegram')
        ? textField({
            ...{
              name: 'telegram_chat',
              label: 'Telegram chat',
              value: isSent ? given(form, 'telegram_chat') : (now?.telegram_chat ?? null),
            },
            help: 'The number of the chat, or the @name of a channel.',
          })
        : html``,
      has('slack')
        ? textField({
            ...{
              name: 'slack_url',
              label: 'Slack address',
              value: given(form, 'slack_url'),
              type: 'url',
              maxLength: 2000,
            },
            help:
              now?.slack === true
                ? 'There is one now. Empty keeps it.'
                : 'Of an incoming webhook. Mattermost has them too.',
          })
        : html``,
    ],
    now === null ? 'Use notices' : 'Save',
  );
}
