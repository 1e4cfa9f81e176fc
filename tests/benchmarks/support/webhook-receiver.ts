import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ensureCertificateAuthority, openCertificateAuthority } from '@quittance/local-backends/certificates.ts';
import { orders } from './orders.ts';
import { HOSTS } from './webhook-merchants.ts';

/** How a host answers: never, or after this many milliseconds. */
export type Answering = 'never' | number;

export type ReceiverOrder =
  | { kind: 'open'; cert: string; key: string }
  /** Forgets what has come. */
  | { kind: 'forget' }
  /** Answers once `events` have come since it last forgot; an event that came twice counts once. */
  | { kind: 'until'; events: number; patienceMs: number }
  | { kind: 'answer'; host: string; how: Answering }
  | { kind: 'arrivals' };

/** What has come since the receiver last forgot. Times are `machineMs`. */
export type Received = {
  port: number;
  /** Different events. */
  events: number;
  /** POSTs of events that had come before. */
  repeated: number;
  /** When the first event and the last new one came. */
  firstAt: number;
  lastAt: number;
  /** TLS handshakes. */
  handshakes: number;
  /** When each event came first; null where it was not asked for. */
  arrivals: Map<string, number> | null;
};

/** The endpoints of all merchants, in one process of its own. */
export type WebhookReceiver = {
  pid: number;
  /** On 127.0.0.1. */
  port: number;
  /** Whom senders have to trust: PEM file. */
  authorityFile: string;
  forget(): Promise<Received>;
  /** @throws Error saying how many there are, when they have not all come in time. */
  until(events: number, patienceMs?: number): Promise<Received>;
  answer(host: string, how: Answering): Promise<Received>;
  arrivals(): Promise<Map<string, number>>;
  close(): Promise<void>;
};

/** @param directory where the authority's files go. */
export async function startWebhookReceiver(directory: string): Promise<WebhookReceiver> {
  const authority = await openCertificateAuthority(await ensureCertificateAuthority(directory));
  const child = fork(fileURLToPath(new URL('webhook-receiver-process.ts', import.meta.url)), {
    serialization: 'advanced',
  });
  const { ask, close } = orders<ReceiverOrder, Received>(child, 'the receiver of webhooks');
  const { port } = await ask({ kind: 'open', ...(await authority.issue(`*.${HOSTS}`)) });
  return {
    pid: child.pid ?? 0,
    port,
    authorityFile: authority.certificateFile,
    forget: () => ask({ kind: 'forget' }),
    until: (events, patienceMs = 600_000) => ask({ kind: 'until', events, patienceMs }),
    answer: (host, how) => ask({ kind: 'answer', host, how }),
    arrivals: async () => (await ask({ kind: 'arrivals' })).arrivals ?? new Map<string, number>(),
    close,
  };
}
