import { defineCall, json, object } from '../call.ts';

export const noticeChannels = ['email', 'telegram', 'slack'] as const;
export type NoticeChannel = (typeof noticeChannels)[number];

/** The most addresses of one merchant. */
export const NOTICE_EMAILS_MAX = 5;

/** The two-letter codes of the checkout page's languages, in which notices are written too. */
export const noticeLanguages = [
  ...['en', 'id', 'de', 'es', 'fr', 'it', 'pl', 'pt', 'vi', 'tr', 'ru', 'uk', 'ar', 'ur', 'fa', 'hi', 'bn', 'th'],
  ...['zh', 'ja', 'ko'],
];

/** Where a merchant's notices go, as people read it. The Slack URL is a secret and is never read back. */
export type Notices = {
  language: string;
  email: string[];
  /** The chat's id, or the name of a channel with its `@`. */
  telegram_chat: string | null;
  slack: boolean;
  /** The channels that the operator has set up. */
  available: NoticeChannel[];
  /** By channel: how many notices are waiting, and the last one that was given up, for the reason in `problem`. */
  channels: { channel: NoticeChannel; waiting: number; failed_at: string | null; problem: string | null }[];
};

/** The channels that are not null, and not empty, get every notice. At least one is required. */
export type NoticesChoice = {
  language: string;
  email: string[];
  telegram_chat: string | null;
  /** A URL of Slack's incoming webhooks, or of a server that takes the same. Absent: as before. */
  slack_url?: string | null;
};

/** 404 for a merchant that has not chosen notices. */
export const ReadNotices = defineCall('notifier', 'GET /merchants/:merchant_id/notices', json<Notices>(), {
  access: 'support',
  forMerchants: 'owner',
});

/**
 * Saves where notices go, and makes the notifier the merchant's webhook endpoint, instead of one that it may have had. 422
 * for addresses that can't be used; 503 while webhook-dispatcher doesn't answer.
 */
export const SetNotices = defineCall('notifier', 'PUT /merchants/:merchant_id/notices', json<Notices>(), {
  access: 'support',
  confirmed: true,
  authored: true,
  body: object<NoticesChoice>(
    {
      language: { enum: noticeLanguages },
      email: { type: 'array', items: { type: 'string' }, maxItems: NOTICE_EMAILS_MAX, uniqueItems: true },
      telegram_chat: { type: ['string', 'null'], pattern: '^(-?[0-9]{1,20}|@[A-Za-z0-9_]{5,32})$' },
      slack_url: { type: ['string', 'null'] },
    },
    { optional: ['slack_url'] },
  ),
  forMerchants: 'owner',
});

/** Of one channel: `problem` is null if the test notice was sent. */
export type TestedChannel = { channel: NoticeChannel; problem: string | null };

/**
 * Sends a test notice to each channel of the merchant, once and immediately, which takes up to ten seconds. 404 as above;
 * 429 for a second one within a minute.
 */
export const SendTestNotice = defineCall(
  'notifier',
  'POST /merchants/:merchant_id/notices/test',
  json<{ channels: TestedChannel[] }>(),
  { access: 'support', authored: true, forMerchants: 'owner' },
);
