import { ensureCertificateAuthority, openCertificateAuthority } from '@quittance/local-backends/certificates.ts';
import { startForked, type Forked } from './forked.ts';
import { HOSTS } from './webhook-merchants.ts';
import type { ReceiverProcess } from './webhook-receiver-process.ts';

/** The endpoints of all merchants, in one process. */
export type WebhookReceiver = Forked<ReceiverProcess> & {
  /** On 127.0.0.1. */
  port: number;
  /** The PEM file of the authority that senders must trust. */
  authorityFile: string;
};

/** @param directory where the authority's files go. */
export async function startWebhookReceiver(directory: string): Promise<WebhookReceiver> {
  const authority = await openCertificateAuthority(await ensureCertificateAuthority(directory));
  const receiver = startForked<ReceiverProcess>('webhook-receiver-process.ts', 'the receiver of webhooks');
  const port = await receiver.ask('open', await authority.issue(`*.${HOSTS}`));
  return { ...receiver, port, authorityFile: authority.certificateFile };
}
