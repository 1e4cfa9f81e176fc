import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCertificateAuthority } from '@quittance/local-backends/certificates.ts';
import { ensureToken, payer } from '@quittance/local-backends/token/token.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { trustKey } from '@quittance/local-stack/receiver/process.ts';
import { registerMerchant, setWebhook, type RegisteredMerchant } from '@quittance/local-stack/stack/demo-merchant.ts';
import { runDemo } from '@quittance/local-stack/stack/demo.ts';
import { readJson, stackDirectory, writePrivateJson } from '@quittance/local-stack/stack/directory.ts';
import { confirmingBlocks } from '@quittance/local-stack/stack/network.ts';
import { readStackFile, type DemoMerchant, type StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { required } from './environment.ts';

/** The receiver's name, which is in no public DNS. The exception for the merchant's webhooks sets its address. */
const receiverHost = 'receiver.internal';

/**
 * Prepares the merchant of docker-compose.trial.yml, the exception that allows webhooks to the trial's receiver, and the authority that
 * signs the receiver's certificate: everything that webhook-dispatcher needs before it starts. All of it is kept in LOCAL_DIRECTORY.
 */
export async function prepareTrial(env: NodeJS.ProcessEnv): Promise<string> {
  const directory = stackDirectory(required(env, 'LOCAL_DIRECTORY'));
  await ensureCertificateAuthority(directory.certificates);
  const signing_keys = { ops: required(env, 'SIGNING_KEY') };
  const gatewayUrl = required(env, 'API_GATEWAY_URL');
  const kept = await readJson<RegisteredMerchant>(directory.merchantFile);
  const merchant = kept ?? (await registerMerchant({ gatewayUrl, signing_keys }, 'Trial shop'));
  if (kept === null) await writePrivateJson(directory.merchantFile, merchant);
  const target = `${merchant.merchant_id}@${receiverHost}=${required(env, 'RECEIVER_ADDRESS')}`;
  await writeFile(join(directory.root, 'private-targets'), target);
  return `merchant ${merchant.merchant_id} may have its webhooks at ${target}`;
}

/**
 * Acts as the merchant's endpoint until it is stopped: sets the webhook at the first start, listens, and verifies what it receives. Writes
 * the stack.json that `demo` and `pay` read. It is healthy after all of that is done.
 */
export async function receive(env: NodeJS.ProcessEnv): Promise<string> {
  const directory = stackDirectory(required(env, 'LOCAL_DIRECTORY'));
  const gatewayUrl = required(env, 'API_GATEWAY_URL');
  const registered = await readJson<DemoMerchant | RegisteredMerchant>(directory.merchantFile);
  if (registered === null) throw new Error('there is no merchant: run trial-merchant first');
  const url = `https://${receiverHost}/webhooks/quittance`;
  const merchant = 'signing_key' in registered ? registered : await setWebhook(gatewayUrl, registered, url);
  await writePrivateJson(directory.merchantFile, merchant);
  const receiverUrl = required(env, 'RECEIVER_URL');
  const stack = {
    edge_url: required(env, 'EDGE_URL'),
    gateway_url: gatewayUrl,
    chain: await describeChain(required(env, 'CHAIN_RPC_URL')),
    merchant,
    receiver: { url: receiverUrl, events_url: `${receiverUrl}/events` },
  } satisfies Partial<StackFile>;
  await writePrivateJson(directory.stackFile, stack);
  await import('@quittance/local-stack/receiver/main.ts');
  await trustKey(receiverUrl, merchant.key_id, merchant.signing_key);
  return `webhooks of ${merchant.merchant_id} come here; its API key is ${merchant.api_key}`;
}

/**
 * Takes payments from creation to webhook, as a shop and its customers would. @throws Error when a step does not happen within a minute.
 */
export async function demonstrate(env: NodeJS.ProcessEnv): Promise<string> {
  const stack = await readStackFile(stackDirectory(required(env, 'LOCAL_DIRECTORY')));
  const receiving = { merchant_wallet: stack.merchant.wallet };
  const network = { receiving, confirmingBlocks: confirmingBlocks.local };
  const { latenciesMs } = await runDemo(stack, network, (line) => process.stdout.write(`${line}\n`));
  return `${latenciesMs.length} payments are PAID, and their webhooks verified`;
}

async function describeChain(rpcUrl: string): Promise<StackFile['chain']> {
  const token = await ensureToken(rpcUrl);
  return {
    network: 'local',
    rpc_url: rpcUrl,
    chain_id: Number(await rpc<string>(rpcUrl, 'eth_chainId')),
    token: token.address,
    decimals: token.decimals,
    payer_address: payer.address,
    payer_private_key: payer.privateKey,
  };
}
