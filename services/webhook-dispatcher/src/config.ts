import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readEncryptionKey, readOptionalEncryptionKey } from '@quittance/runtime/key-vault.ts';
import { commonSettings } from '@quittance/runtime/service-settings.ts';
import { ConfigurationError, settings, type SettingsReader } from '@quittance/runtime/settings.ts';
import { defaultRetryDelaysSeconds } from './events/outcome.ts';
import type { LocalReceiver } from './sending/ways-out.ts';
import { parseNotifier, parsePrivateTargets, type PrivateTarget } from './sending/private-targets.ts';

const WEEK_SECONDS = 604_800;
/** IPv4 addresses, or IPv6 addresses in brackets, each with or without a port, separated by commas. */
const nameServers = /^(?:(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?(?:,(?=.)|$))+$/;

/** All settings of this service, checked once at start. No other file reads the environment. */
export const readConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({
    ...commonSettings(read),
    webhookEncryptionKey: readEncryptionKey(read, 'WEBHOOK_ENCRYPTION_KEY'),
    /** Also opens signing keys: the next or the previous key, while one replaces the other. */
    webhookEncryptionKeyPrevious: readOptionalEncryptionKey(read, 'WEBHOOK_ENCRYPTION_KEY_PREVIOUS'),
    retryDelaysSeconds: read.integers('WEBHOOK_RETRY_DELAYS_SECONDS', {
      default: defaultRetryDelaysSeconds,
      min: 0,
      max: WEEK_SECONDS,
    }),
    localReceiver: readLocalReceiver(read),
    /** `address:port` each; empty for the machine's own servers. */
    nameServers: read.text('WEBHOOK_NAME_SERVERS', { default: '', pattern: nameServers }).split(',').filter(Boolean),
    /** Receivers in private networks, each for one merchant; see sending/private-targets.ts. */
    privateTargets: read.parsed('WEBHOOK_PRIVATE_TARGETS', { default: [] }, (text) => parsePrivateTargets(text)),
    /** The receiver that sends notices to merchants without a backend; null where there is none. */
    notifier: read.parsed<PrivateTarget | null>('WEBHOOK_NOTIFIER', { default: null }, (text) => parseNotifier(text)),
    /** PEM: the authorities of their certificates; null for the usual ones. */
    privateTargetsCa: read.parsed('WEBHOOK_PRIVATE_TARGETS_CA', { default: null }, readCertificates),
  }));

/** @throws Error if the file cannot be read, or has no certificate or an invalid one. */
function readCertificates(path: string): string | null {
  const pem = readFileSync(path, 'utf8');
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (certificates.length === 0) throw new Error('names a file without a PEM certificate');
  for (const certificate of certificates) new X509Certificate(certificate);
  // Files put together may lack the line break between two certificates, and OpenSSL would read the first one only.
  return certificates.join('\n');
}

/** Only on the loopback interface, and never in production. */
function readLocalReceiver(read: SettingsReader): LocalReceiver | null {
  const text = read.text('WEBHOOK_LOCAL_RECEIVER', { default: '', pattern: /^127\.0\.0\.1:\d{1,5}$/ });
  if (text === '') return null;
  if (read.optionalText('NODE_ENV') === 'production') {
    throw new ConfigurationError(['WEBHOOK_LOCAL_RECEIVER: must not be set in production']);
  }
  return { address: '127.0.0.1', port: Number(text.split(':')[1]) };
}
