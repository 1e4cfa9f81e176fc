import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startChild } from '@quittance/local-backends/child.ts';
import { endOrphan, writePidFile } from '@quittance/local-backends/orphans.ts';
import { requireFreePort } from '@quittance/local-backends/ports.ts';
import { everyHost } from './behaviour.ts';
import type { CertificateFiles } from '@quittance/local-backends/certificates.ts';
import type { Backend } from '@quittance/local-backends/child.ts';

export type Receiver = Backend & {
  /** host:port of the TLS side, for WEBHOOK_LOCAL_RECEIVER. */
  address: string;
  controlUrl: string;
  /** URL of the webhooks received, as JSON. */
  eventsUrl: string;
  /** Adds a key, so that the receiver can verify webhooks signed with it. */
  trust(keyId: string, signingKey: string): Promise<void>;
  /** Forwards every webhook to an endpoint, which then decides the answer. */
  forwardTo(endpoint: string): Promise<void>;
};

export type ReceiverOptions = {
  directory: string;
  logFile: string;
  ports: { tls: number; control: number };
  authority: CertificateFiles;
};

const entryFile = fileURLToPath(new URL('main.ts', import.meta.url));

/**
 * Starts the local webhook receiver (infra/local/receiver) as its own process. @throws Error naming a taken port, or with the end of its
 * log.
 */
export async function startReceiver({ directory, logFile, ports, authority }: ReceiverOptions): Promise<Receiver> {
  const pidFile = join(directory, 'receiver.pid');
  await mkdir(directory, { recursive: true });
  await endOrphan(pidFile, entryFile);
  await requireFreePort(ports.tls, 'the webhook receiver');
  await requireFreePort(ports.control, "the webhook receiver's control");
  const child = await startChild({
    name: 'webhook receiver',
    command: process.execPath,
    args: [entryFile],
    logFile,
    graceMs: 3000,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      RECEIVER_HOST: '127.0.0.1',
      RECEIVER_TLS_PORT: String(ports.tls),
      RECEIVER_CONTROL_PORT: String(ports.control),
      RECEIVER_URL: '',
      RECEIVER_CA_CERT: authority.certificateFile,
      RECEIVER_CA_KEY: authority.keyFile,
    },
  });
  await writePidFile(pidFile, child.pid);

  const controlUrl = `http://127.0.0.1:${ports.control}`;
  const refusal = await Promise.race([child.exited, untilReady(controlUrl)]);
  if (refusal !== null) {
    await child.stop();
    throw new Error(`${refusal} before it was ready:\n${child.lastWords()}`);
  }
  return {
    address: `127.0.0.1:${ports.tls}`,
    controlUrl,
    eventsUrl: `${controlUrl}/events`,
    pid: child.pid,
    exited: child.exited,
    stop: child.stop,
    kill: child.kill,
    trust: (keyId, signingKey) => trustKey(controlUrl, keyId, signingKey),
    forwardTo: (endpoint) => forwardWebhooks(controlUrl, endpoint),
  };
}

export function trustKey(controlUrl: string, keyId: string, signingKey: string): Promise<void> {
  return tell(controlUrl, '/keys', { key_id: keyId, signing_key: signingKey });
}

/**
 * Forwards webhooks to an endpoint; null stops it.
 * @param host of the merchant's URL. Default: all hosts that are not forwarded elsewhere.
 */
export async function forwardWebhooks(controlUrl: string, endpoint: string | null, host = everyHost): Promise<void> {
  if (endpoint !== null) return tell(controlUrl, '/behaviour', { host, forward_to: endpoint });
  await fetch(`${controlUrl}/behaviour?host=${encodeURIComponent(host)}`, { method: 'DELETE' });
}

async function tell(controlUrl: string, path: string, what: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(controlUrl + path, { method: 'POST', headers, body: JSON.stringify(what) });
  if (!response.ok) throw new Error(`The webhook receiver refused ${path.slice(1)}: ${await response.text()}`);
}

async function untilReady(controlUrl: string): Promise<null | string> {
  const deadline = Date.now() + 15_000;
  while (Date.now() < deadline) {
    const response = await fetch(`${controlUrl}/livez`).catch(() => null);
    if (response?.ok) return null;
    await delay(25);
  }
  return 'The webhook receiver did not answer within 15 seconds and was stopped';
}
