import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openCertificateAuthority } from '@quittance/local-backends/certificates.ts';
import { addressOf, notifierSchema, prepareSchema } from '@quittance/postgres/roles/service-databases.ts';
import type { Backends } from './backends.ts';
import { runMigration } from './migrations.ts';
import type { Ports } from './ports.ts';
import { notifierEnvironment, type NotifierSettings, type ServiceEnvironmentOptions } from './service-environment.ts';
import { ServiceProcess } from './service-process.ts';
import type { ProcessOptions } from './services.ts';
import type { Steps } from './steps.ts';

/** The name of the notifier, which only webhook-dispatcher uses. */
const host = 'notices.internal';

/** The address is one that the rules for it allow. It is never dialled: see WEBHOOK_LOCAL_RECEIVER. */
export const noticesAt = ({ notifier, notifierHooks }: Ports): ServiceEnvironmentOptions['notices'] => ({
  target: `${host}=10.213.253.10:${notifierHooks}`,
  url: `http://127.0.0.1:${notifier}`,
});

/** It runs when there is a way to send notices. Another version's checkout may have none. */
export const wantsNotices = (environment: NodeJS.ProcessEnv, checkout: string): boolean =>
  Boolean(environment['SMTP_URL'] || environment['TELEGRAM_BOT_TOKEN']) && existsSync(entryOf(checkout, 'main.ts'));

const entryOf = (checkout: string, file: string): string => join(checkout, 'packages', 'notifier', 'src', file);

/** Prepares and starts the notifier, with a certificate of the stack's authority. Notices go to the console's page of a payment. */
export async function startNotices(
  options: ProcessOptions,
  { postgresUrl, ca }: Pick<Backends, 'postgresUrl' | 'ca'>,
  steps: Steps,
): Promise<void> {
  const { directory, ports, settings, checkout, onChange } = options;
  const { role } = notifierSchema;
  const password = settings.secrets.database_password;
  await prepareSchema({ adminUrl: postgresUrl, ...notifierSchema, password });
  const databaseUrl = addressOf(postgresUrl, { role, password });
  await runMigration('notifier', [entryOf(checkout, 'migrate.ts')], { databaseUrl, checkout });

  const authority = await openCertificateAuthority({ certificateFile: ca.cert, keyFile: ca.key });
  const { cert, key } = await authority.issue(host);
  const own: NotifierSettings = {
    databaseUrl,
    certificateFile: join(directory.certificates, 'notices.pem'),
    keyFile: join(directory.certificates, 'notices-key.pem'),
  };
  await writeFile(own.certificateFile, cert);
  await writeFile(own.keyFile, key, { mode: 0o600 });
  const notifier = new ServiceProcess({
    ...{ name: 'notifier', replica: 1, ports: { notifier: ports.notifier }, checkout, onChange },
    ...{ logDirectory: directory.logs, pidDirectory: directory.pids },
    env: notifierEnvironment(settings, ports, own),
  });
  steps.undoLater(() => notifier.stop());
  await steps.take(`the notifier on ${ports.notifier}`, () => notifier.start());
}
