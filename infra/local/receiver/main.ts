import { openCertificateAuthority } from '@quittance/local-backends/certificates.ts';
import { Behaviours } from './behaviour.ts';
import { readConfig } from './config.ts';
import { createControlServer } from './control-server.ts';
import { Mailbox } from './mailbox.ts';
import { createWebhookServer } from './webhook-server.ts';
import type { AddressInfo, Server } from 'node:net';

/** The local stack's merchant: a process that receives webhooks over TLS and shows them over HTTP. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const mailbox = new Mailbox();
  const behaviours = new Behaviours();
  const authority = await openCertificateAuthority(config);
  const webhooks = await createWebhookServer({ authority, mailbox, behaviours });
  const control = createControlServer({ mailbox, behaviours, hostNames: config.controlNames });
  const tlsPort = await listen(webhooks, config.host, config.tlsPort);
  // Last, so that an answer of the control port proves that the other port is ready.
  const controlPort = await listen(control, config.host, config.controlPort);
  console.log(JSON.stringify({ msg: 'listening', tls_port: tlsPort, control_port: controlPort }));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

await main().catch((error: unknown) => {
  console.error(`The webhook receiver cannot start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
