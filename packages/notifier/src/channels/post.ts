import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from '@quittance/contracts/public-address.ts';
import { Agent, request } from 'undici';
import { SEND_TIMEOUT_MS } from './channel.ts';

/** Answers are a word or a short JSON object. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** @param url without credentials. @returns null if there was no answer. Redirects are not followed. */
export async function post(
  agent: Agent,
  url: string,
  body: object,
): Promise<{ status: number; text: string; retryAfterSeconds: number | undefined } | null> {
  try {
    const {
      statusCode,
      headers,
      body: answer,
    } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      dispatcher: agent,
      signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
    });
    const retryAfter = /^\d{1,6}$/.exec(String(headers['retry-after'] ?? ''))?.[0];
    const retryAfterSeconds = retryAfter === undefined ? undefined : Number(retryAfter);
    return { status: statusCode, text: await answer.text(), retryAfterSeconds };
  } catch {
    // Its message may have the URL, whose path is a secret.
    return null;
  }
}

/** For a server that the operator has named. */
export const operatorAgent = (): Agent => new Agent({ maxResponseSize: MAX_ANSWER_BYTES });

/**
 * For URLs of merchants: connects to public addresses only. Exactly the checked addresses are dialled, so a name that
 * changes in between has no effect. URLs with an address instead of a name are checked when they are saved, as webhook
 * endpoints are, because they are not looked up.
 */
export const publicAgent = (): Agent =>
  new Agent({ maxResponseSize: MAX_ANSWER_BYTES, connect: { lookup: lookupPublic, timeout: SEND_TIMEOUT_MS } });

const lookupPublic: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      callback(error, '');
      return;
    }
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      callback(new Error(`${host} does not lead to public addresses only`), '');
    else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
