import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { freePort } from '@quittance/local-backends/ports.ts';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { startServiceProcess, type ServiceProcess } from '@quittance/testkit/service-process.ts';
import { trustSettingsOf } from '@quittance/testkit/trust.ts';
import { migrations, schema } from '../../../packages/notifier/src/migrations.ts';
import { startMailServer } from '../../../packages/notifier/test/stand-ins.ts';
import type { RealServices } from '../../../packages/ops/test/real-services.ts';
import { createAuthority } from '../../webhook-dispatcher/test/certificates.ts';
import { invite, RP_ID, type Person } from './person.ts';
import { startWorld, type World } from './world.ts';

// Five services, a notifier and a console start for it.
jest.setTimeout(300_000);

const HOST = 'notices.internal';

let world: World;
let owner: Person;
let mail: Awaited<ReturnType<typeof startMailServer>>;
let notifier: ServiceProcess;
let database: TestDatabase;
let directory: string;

/** A notifier with a mail server, which is the only receiver there is. */
beforeAll(async () => {
  const authority = await createAuthority();
  const hooksPort = await freePort();
  [mail, database, directory] = await Promise.all([
    startMailServer(),
    testDatabase({ schema, migrations }),
    mkdtemp(join(tmpdir(), 'quittance-notices-')),
  ]);
  const files = {
    authority: join(directory, 'ca.pem'),
    cert: join(directory, 'cert.pem'),
    key: join(directory, 'key.pem'),
  };
  const { cert, key } = await authority.certify(HOST);
  await Promise.all([
    writeFile(files.authority, authority.certificate),
    writeFile(files.cert, cert),
    writeFile(files.key, key),
  ]);
  const startNotifier = async ({ env }: RealServices) => {
    notifier = await startServiceProcess(new URL('../../../packages/notifier/src/main.ts', import.meta.url), {
      ...trustSettingsOf('notifier'),
      ...{ DATABASE_URL: database.url, WEBHOOK_DISPATCHER_URL: env.WEBHOOK_DISPATCHER_URL },
      ...{ HOOKS_PORT: String(hooksPort), HOOKS_CERTIFICATE_FILE: files.cert, HOOKS_KEY_FILE: files.key },
      NOTICES_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      ...{ SMTP_URL: mail.url, NOTICES_FROM: 'notices@pay.example', CONSOLE_URL: 'https://console.example' },
    });
    return { NOTIFIER_URL: notifier.url };
  };
  world = await startWorld({
    passkeysFor: RP_ID,
    webhooks: {
      ...{ WEBHOOK_NOTIFIER: `${HOST}=10.20.30.40:${hooksPort}`, WEBHOOK_LOCAL_RECEIVER: `127.0.0.1:${hooksPort}` },
      NODE_EXTRA_CA_CERTS: files.authority,
    },
    neighbour: startNotifier,
  });
  const { merchant_id: merchantId } = await world.services.merchant({ access_type: 'legacy', total_limit: 10 });
  owner = await invite(world, { merchantId }, { role: 'owner', name: 'olive' });
});
afterAll(async () => {
  await world.close();
  await notifier.stop();
  await Promise.all([mail.close(), database.drop(), rm(directory, { recursive: true })]);
});

const told = (text: RegExp) => eventually(() => expect(mail.mails.map(({ raw }) => raw).join('\n')).toMatch(text));

test('an owner without a backend chooses notices, with a passkey, is told by e-mail, and can then create payments', async () => {
  const chosen = { language: 'en', email: 'olive@shop.example' };
  const refused = await owner.confirm('/my/notices', { ...chosen, email: 'nobody' });
  expect([refused.status, refused.text.includes('nobody')]).toEqual([422, true]);
  expect((await owner.confirm('/my/notices', chosen)).headers.get('location')).toBe('/my/notices');
  expect((await owner.get('/my/notices')).text).toContain('olive@shop.example');
  expect((await owner.send('/my/notices/test')).text).toMatch(/E-mail: sent/);
  await told(/olive@shop\.example/);
  const before = mail.mails.length;
  // The event of the webhook takes the way that a paid payment takes.
  await owner.send('/my/webhooks/test');
  await eventually(() => expect(mail.mails.length).toBeGreaterThan(before));
  const payment = { amount: '5', description: 'Tea', merchant_wallet: `0x${'5'.repeat(40)}`, key: 'one' };
  expect((await owner.send('/my/new-payment', payment)).headers.get('location')).toMatch(/^\/my\/payments\/pay_/);
});
