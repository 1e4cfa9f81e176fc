import { constants } from 'node:crypto';
import { isIP } from 'node:net';
import { checkServerIdentity, connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { isPublicAddress } from '@quittance/contracts/public-address.ts';
import { categoryOfConnectError, SendError } from './errors.ts';
import type { PrivateTarget } from './private-targets.ts';
import { interleave, race } from './race.ts';
import { publicAddresses, type Resolve } from './resolve.ts';

/** Opens a TLS connection to a checked address. */
export type Dial = (target: DialTarget) => Promise<TLSSocket>;

export type DialTarget = {
  address: string;
  /** The host name, for the certificate. */
  host: string;
  timeoutMs: number;
  /** Called when TCP is connected. */
  connected?: (() => void) | undefined;
  /** Aborted when the connection is no longer needed. */
  lost?: AbortSignal | undefined;
};

/** For connecting and the TLS handshake, with all addresses together. */
const CONNECT_TIMEOUT_MS = 5_000;
/** A name may have dozens of addresses; these are enough, half of each family. */
const MAX_ADDRESSES = 6;

/** Opens the connection for a request to a host. @throws SendError */
export type Connector = (host: string) => Promise<TLSSocket>;

/**
 * To public addresses: resolves the name once, requires every address to be public, and dials exactly these addresses. So a name
 * that changes between the check and the connection has no effect.
 */
export function createConnector(options: { resolve: Resolve; dial: Dial; connectTimeoutMs?: number }): Connector {
  const { resolve, dial, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  return async (host) => {
    const addresses = interleave(await publicAddresses(host, resolve)).slice(0, MAX_ADDRESSES);
    const deadlineMs = performance.now() + connectTimeoutMs;
    return race(addresses, {
      attempt: (address, how) =>
        dial({ address, host, timeoutMs: Math.max(1, deadlineMs - performance.now()), ...how }),
      discard: (socket) => void socket.destroy(),
    });
  };
}

/** Dials the HTTPS port of a public address. @param port a different one, for tests. */
export const dialPublic =
  (port = 443): Dial =>
  async (target) => {
    const { host } = target;
    const socket = await openTls({ ...target, port });
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && isPublicAddress(remoteAddress)) return socket;
    socket.destroy();
    throw new SendError('blocked_address', `${host} was reached at ${remoteAddress ?? 'no address'}`);
  };

/** Dials an address and port that an operator has allowed. */
export type DialPrivate = (target: DialTarget & { port: number }) => Promise<TLSSocket>;

/** To a private target: to exactly its address and port; its name is not resolved. */
export const createPrivateConnector =
  ({ host, address, port }: PrivateTarget, dial: DialPrivate): Connector =>
  () =>
    dial({ address, port, host, timeoutMs: CONNECT_TIMEOUT_MS });

/** @param ca the authorities that sign private targets' certificates, in PEM; null for the usual ones. */
export function dialPrivate(ca: string | null): DialPrivate {
  const context = ca === null ? undefined : newSecureContext(ca);
  return async (target) => {
    const { host, address } = target;
    const socket = await openTls(target, context);
    const { remoteAddress } = socket;
    if (remoteAddress === address) return socket;
    socket.destroy();
    throw new SendError('blocked_address', `${host} was reached at ${remoteAddress ?? 'no address'}`);
  };
}

/**
 * A verified TLS connection, at least version 1.2. The certificate must be for `host` and signed by an authority that Node trusts
 * (NODE_EXTRA_CA_CERTS adds to them); no setting of the environment turns the verification off.
 * @param context with different authorities.
 * @throws SendError
 */
export async function openTls(target: DialTarget & { port: number }, context?: SecureContext): Promise<TLSSocket> {
  const { address, port, host, timeoutMs, lost } = target;
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  let connected = false;
  const socket = connect({
    host: address,
    port,
    // For a name, SNI and the certificate check use the name, although the address is dialled.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    checkServerIdentity: (_dialled, certificate) => checkServerIdentity(host, certificate),
    rejectUnauthorized: true,
    secureContext: context ?? (secureContext ??= newSecureContext()),
    ALPNProtocols: ['http/1.1'],
  });
  const timer = setTimeout(() => {
    socket.destroy(new SendError('connect_timeout', `${host} took longer than ${Math.round(timeoutMs)} ms to connect`));
  }, timeoutMs);
  socket.setNoDelay(true);
  socket.once('connect', () => {
    connected = true;
    target.connected?.();
  });
  const giveWay = (): void =>
    void socket.destroy(new SendError('interrupted', `another address of ${host} was quicker`));
  lost?.addEventListener('abort', giveWay);
  socket.once('secureConnect', () => resolve(socket));
  // Stays while the connection lives: an error before anybody else listens would end the process.
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const category = categoryOfConnectError(error, connected);
    reject(error instanceof SendError ? error : new SendError(category, `${host}: ${error.message}`, { cause: error }));
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    lost?.removeEventListener('abort', giveWay);
  }
}

/**
 * Shared by all connections: creating one takes longer than the rest of a handshake, and much memory. TLS 1.2 renegotiation is refused,
 * because the verified certificate must not change.
 */
let secureContext: SecureContext | undefined;
const newSecureContext = (ca?: string): SecureContext =>
  createSecureContext({
    minVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(ca !== undefined && { ca }),
  });
