import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { Wallet } from 'ethers';
import { parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import { NOTIFIER } from '@quittance/contracts/service-name.ts';
import { ensureToken } from '@quittance/local-backends/token/token.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { callJson } from '@quittance/local-stack/stack/call-json.ts';
import { createPayment, type RegisteredMerchant } from '@quittance/local-stack/stack/demo-merchant.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { startMailServer } from '../../../packages/notifier/test/stand-ins.ts';
import { deploy, type Deployment } from '../deployment.ts';
import { docker, patience } from '../docker.ts';
import type { Part } from '../part.ts';

const consoleUrl = 'https://console.example.com';
type Mails = Awaited<ReturnType<typeof startMailServer>>['mails'];

export const part: Part = {
  name: 'notices',
  about:
    'the notifier next to all services in one container: a merchant without a backend is told of a paid payment by e-mail, also after a kill',
  run: async (context) => {
    const mail = await startMailServer(0, '0.0.0.0');
    context.onEnd(() => mail.close());
    const deployment = await deploy(context, {
      options: ['--own-proxy', '--single', '--notices'],
      files: ['tests/engine/notices.yml'],
      settings: {
        SMTP_URL: `smtp://mail.internal:${mail.port}`,
        NOTICES_FROM: 'notices@pay.example.com',
        CONSOLE_URL: consoleUrl,
      },
    });
    await trustBoth(deployment);
    const pay = await openStall(deployment, mail.mails);
    context.say(`told    ${await pay('12.34')}`);
    const format = '{{.MemUsage}}';
    context.say(`memory  ${(await docker('stats', '--no-stream', '--format', format, await idOf(deployment))).trim()}`);
    await deployment.kill('notifier');
    context.say('killed  notifier, which is back and healthy');
    context.say(`told    ${await pay('23.45')}`);
    await deployment.paid();
  },
};

/** docs/notices.md: with another receiver in a private network, one file has both authorities. */
async function trustBoth({ folder, compose, up }: Deployment): Promise<void> {
  const authority = await compose('exec', '-T', 'notifier', 'cat', '/notices/certificates/ca.pem');
  await appendFile(join(folder, 'shop', 'ca.pem'), authority);
  await compose('restart', 'single');
  await up();
}

const idOf = async (deployment: Deployment): Promise<string> =>
  (await deployment.containers()).find(({ service }) => service === 'notifier')!.id;

/** A merchant without a backend. @returns what makes a payment, pays it and waits for its e-mail. */
async function openStall(deployment: Deployment, mails: Mails): Promise<(amount: string) => Promise<string>> {
  const { edgeUrl, folder, ops } = deployment;
  const { OPS_SIGNING_KEY: key = '', CHAIN_PORT: chain } = parseEnv(await readFile(join(folder, '.env'), 'utf8'));
  const because = ['--actor', 'engine', '--reason', 'no backend'];
  const created = await ops('merchant', 'create', '--name', 'A stall', '--unlimited', ...because, '--json');
  const merchant = { ...(JSON.parse(created) as RegisteredMerchant), wallet: Wallet.createRandom().address };
  const format = '{{(index .NetworkSettings.Networks "quittance-engine_backend").IPAddress}}';
  const address = (await docker('inspect', '--format', format, await idOf(deployment))).trim();
  const choice = { language: 'en', email: ['olive@stall.example'], telegram_chat: null };
  await callJson(
    `http://${address}:8080/internal/v1/merchants/${merchant.merchant_id}/notices`,
    'PUT',
    callAs({ signing_keys: { ops: key } }, NOTIFIER),
    { ...choice, actor: 'engine', reason: 'no backend' },
  );
  return async (amount) => {
    const order = { amount, description: 'Apples' };
    const { payment_id: payment } = await eventually(() => createPayment(edgeUrl, merchant, order), patience);
    const token = await ensureToken(`http://127.0.0.1:${chain}`);
    await token.pay(merchant.wallet, toTokenUnits(parseAmount(amount)!, token.decimals));
    await eventually(() => {
      // Long lines are folded.
      const texts = mails.map(({ raw }) => raw.replaceAll('=\r\n', ''));
      const isTold = texts.some(
        (text) => text.includes(`Paid: ${amount} USDT`) && text.includes(`${consoleUrl}/my/payments/${payment}`),
      );
      if (!isTold) throw new Error(`no e-mail tells that ${payment} is paid: ${texts.join('\n') || 'none came'}`);
    }, patience);
    return `${payment}, ${amount} USDT, by an e-mail with a link to it`;
  };
}
