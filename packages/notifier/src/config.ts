import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { emailProblem } from '@quittance/contracts/email.ts';
import { readEncryptionKey, readOptionalEncryptionKey } from '@quittance/runtime/key-vault.ts';
import { serviceUrl, settingsWithoutBroker } from '@quittance/runtime/service-settings.ts';
import { settings, type SettingsReader } from '@quittance/runtime/settings.ts';

/** All settings of the notifier, checked once at start. No other file reads the environment. */
export const readConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({
    ...settingsWithoutBroker(read),
    dispatcherUrl: serviceUrl(read, 'WEBHOOK_DISPATCHER_URL'),
    /** For webhooks, over TLS. The other port is for internal calls and probes. */
    hooksPort: read.integer('HOOKS_PORT', { default: 8443, min: 0, max: 65_535 }),
    hooksCertificate: read.required('HOOKS_CERTIFICATE_FILE', (path) => readPem(path, 'cert')),
    hooksKey: read.required('HOOKS_KEY_FILE', (path) => readPem(path, 'key')),
    encryptionKey: readEncryptionKey(read, 'NOTICES_ENCRYPTION_KEY'),
    /** Also opens secrets: the next or the previous key, while one replaces the other. */
    encryptionKeyPrevious: readOptionalEncryptionKey(read, 'NOTICES_ENCRYPTION_KEY_PREVIOUS'),
    ...channelSettings(read),
  }));

/** Each channel is off until it is set up. Slack needs nothing: its URLs are the merchants'. */
function channelSettings(read: SettingsReader) {
  const smtpUrl = read.parsed<string | null>('SMTP_URL', { default: null }, checkSmtpUrl);
  return {
    smtpUrl,
    /** The sender of e-mails; required with SMTP_URL. */
    from: smtpUrl === null ? null : read.required('NOTICES_FROM', checkEmail),
    telegramToken: read.parsed<string | null>('TELEGRAM_BOT_TOKEN', { default: null }, checkToken),
    telegramUrl: read.url('TELEGRAM_API_URL', {
      protocols: ['http:', 'https:'],
      default: 'https://api.telegram.org',
    }),
    /** Where browsers reach the console, for links; notices have none without it. */
    consoleUrl: read.url('CONSOLE_URL', { protocols: ['http:', 'https:'], default: '' }),
  };
}

function readPem(path: string, part: 'cert' | 'key'): string {
  const pem = readFileSync(path, 'utf8');
  createSecureContext({ [part]: pem });
  return pem;
}

/** The error does not repeat the URL, which may contain a password. */
function checkSmtpUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '')
    throw new Error('must be a URL such as smtps://user:password@mail.example:465');
  return text;
}

function checkEmail(text: string): string {
  const problem = emailProblem(text);
  if (problem !== null) throw new Error(problem);
  return text;
}

/** As BotFather shows it. It becomes a part of a URL's path. */
function checkToken(text: string): string {
  if (!/^\d{1,20}:[\w-]{20,100}$/.test(text)) throw new Error('must be the token of a bot, such as 123456:AbC…');
  return text;
}
