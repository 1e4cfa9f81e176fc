import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Call, ResponseOf } from '@quittance/contracts/call.ts';
import { readAnswer, type Given, type ServiceResponse } from '@quittance/http/client/request.ts';
import { IssueOperatorToken, type OperatorToken } from '@quittance/contracts/http/api-gateway/people.ts';
import {
  createServiceClient,
  ServiceUnavailable,
  type ServiceCalls,
  type ServiceClient,
} from '@quittance/http/client/client.ts';
import { createCallerHeaders, type ShowCaller } from '@quittance/http/call-token.ts';
import { causesOf, detailText } from '@quittance/http/errors.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { signerOfKey } from '@quittance/runtime/trust.ts';
import { NOTIFIER, OPS, type CallOwner, type ServiceName } from '@quittance/contracts/service-name.ts';
import { serviceSettings, type Config } from './config.ts';
import { Failure } from './failure.ts';

/** A person waits; a service that checks something on chain or over DNS may take a while. */
const TIMEOUT_MS = 10_000;

/** When an answer is lost, the change may have been made or not. */
const PERHAPS_DONE = 'It may have been done all the same: look before you repeat it';

// main.ts reports a failure once, in a sentence; the client's own log lines and metrics have no reader here.
const unheard = {
  timeoutMs: TIMEOUT_MS,
  logger: createLogger({ service: 'ops', level: 'silent' }),
  metrics: createMetrics({ service: 'ops', processMetrics: false }),
};

/** The internal APIs. */
export type Api = {
  /** Makes a call. @throws Failure `refused` for a 4xx, `unreachable` for a 5xx or no usable answer, `wrongUse` without an address. */
  call<C extends Call>(call: C, ...given: Given<C>): Promise<ResponseOf<C>>;
  /** As `call`, with null for a 404. */
  find<C extends Call>(call: C, ...given: Given<C>): Promise<ResponseOf<C> | null>;
  /** As `call`, for an answer that may be larger than others are. */
  large<C extends Call>(call: C, ...given: Given<C>): Promise<ResponseOf<C>>;
  /** Makes a call whose answer has any length and is read as it arrives. @throws Failure as `call`, before the answer has begun. */
  stream<C extends Call>(call: C, ...given: Given<C>): Promise<Readable>;
  close(): void;
};

/** A client for each service that is asked. */
function createClients(config: Config) {
  const clients = new Map<ServiceName, ServiceClient>();
  let showCaller: ShowCaller | null = null;
  return {
    of(service: CallOwner): ServiceClient {
      if (service === NOTIFIER) throw new Failure('wrongUse', 'ops makes no calls of the notifier');
      const known = clients.get(service);
      if (known !== undefined) return known;
      const client = createServiceClient({
        name: service,
        baseUrl: needed(serviceSettings[service], config.urls[service]),
        showCaller: config.operatorCredential === '' ? (showCaller ??= callerHeaders(config)) : null,
        ...unheard,
      });
      clients.set(service, client);
      return client;
    },
    close: () => clients.forEach((client) => client.close()),
  };
}

export function createApi(config: Config): Api {
  const clients = createClients(config);
  const secret = config.operatorCredential === '' ? ownSecret(config) : 'OPERATOR_CREDENTIAL';

  const operatorToken = keptToken(async () => {
    const body = { credential: config.operatorCredential };
    const ask = () => clients.of('api-gateway').send(IssueOperatorToken, { body });
    return read(IssueOperatorToken, await answerOf(IssueOperatorToken, ask));
  });

  /** The calls of an operator with a credential, or else of a holder of the key of `ops`. */
  const callsOf = async (service: CallOwner): Promise<ServiceCalls> =>
    config.operatorCredential === '' ? clients.of(service) : clients.of(service).as(await operatorToken());

  const answererOf = ({ owner }: Call): string => `${owner} at ${owner === NOTIFIER ? '' : config.urls[owner]}`;

  /** @throws Failure `unreachable` when there is none. */
  async function answerOf<T>(call: Call, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ServiceUnavailable)) throw error;
      const doubt = call.method === 'GET' || error.wasNeverSent ? '' : `. ${PERHAPS_DONE}`;
      throw new Failure('unreachable', `${answererOf(call)} gave no answer: ${reasonOf(error)}${doubt}`);
    }
  }

  const send = <C extends Call>(call: C, ...given: Given<C>) =>
    answerOf(call, async () => (await callsOf(call.owner)).send(call, ...given));

  const open = <C extends Call>(call: C, ...given: Given<C>) =>
    answerOf(call, async () => (await callsOf(call.owner)).stream(call, ...given));

  function read<C extends Call>(call: C, answer: ServiceResponse): ResponseOf<C> {
    const { status } = answer;
    const body = parse(answer.body, answererOf(call));
    if (status >= 400) throw refusal(call.owner, secret, status, body);
    try {
      return readAnswer(call, { ...answer, status: call.status });
    } catch (error) {
      throw new Failure('unreachable', `${answererOf(call)}: ${reasonOf(error)}`);
    }
  }

  return {
    call: async (call, ...given) => read(call, await send(call, ...given)),
    async find(call, ...given) {
      const answer = await send(call, ...given);
      return answer.status === 404 ? null : read(call, answer);
    },
    async large(call, ...given) {
      const answer = await open(call, ...given);
      return read(call, { ...answer, body: await buffer(answer.body) });
    },
    async stream(call, ...given) {
      const { status, body } = await open(call, ...given);
      if (status < 400) return body;
      throw refusal(call.owner, secret, status, parse(await buffer(body), answererOf(call)));
    },
    close: clients.close,
  };
}

/** The setting that identifies `ops`. */
const ownSecret = ({ signingKey, sharedToken }: Config): string =>
  signingKey === '' && sharedToken !== '' ? 'INTERNAL_TOKEN' : 'SIGNING_KEY';

function callerHeaders(config: Config): ShowCaller {
  const { signingKey, sharedToken } = config;
  if (ownSecret(config) === 'SIGNING_KEY') needed('SIGNING_KEY', signingKey);
  try {
    return createCallerHeaders(OPS, {
      signer: signingKey === '' ? null : signerOfKey(signingKey),
      sharedTokens: sharedToken === '' ? [] : [sharedToken],
    });
  } catch (error) {
    throw new Failure('wrongUse', `SIGNING_KEY ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Keeps a token while half of its life is left, which is enough for a command that a service takes long to answer. */
function keptToken(issue: () => Promise<OperatorToken>): () => Promise<string> {
  let kept: { token: string; renewAt: number } | null = null;
  return async () => {
    if (kept === null || kept.renewAt <= performance.now()) {
      const { token, expires_in: seconds } = await issue();
      kept = { token, renewAt: performance.now() + seconds * 500 };
    }
    return kept.token;
  };
}

/**
 * Waits for the answers of several services. A missing answer does not hide the others.
 * @returns the answers that came, under their names, and a message about each service that gave none.
 * @throws Failure of the first call that failed in any other way: then the question itself is wrong.
 */
export async function whatAnswers<Asked extends Record<string, Promise<unknown>>>(
  asked: Asked,
): Promise<{ answers: { [name in keyof Asked]?: Awaited<Asked[name]> }; silent: string[] }> {
  const answers: Record<string, unknown> = {};
  const silent: string[] = [];
  const results = await Promise.allSettled(Object.values(asked));
  for (const [position, name] of Object.keys(asked).entries()) {
    const result = results[position];
    if (result?.status === 'fulfilled') answers[name] = result.value;
    else if (result?.reason instanceof Failure && result.reason.kind === 'unreachable')
      silent.push(result.reason.message);
    else throw result?.reason;
  }
  return { answers: answers as { [name in keyof Asked]?: Awaited<Asked[name]> }, silent };
}

/** @throws Failure that explains how to set it. */
export function needed(name: string, value: string): string {
  if (value !== '') return value;
  throw new Failure(
    'wrongUse',
    `${name} is not set, and no stack runs in this checkout. Set it, or run \`npm start\` first.`,
  );
}

/** @param secret the setting that identifies the caller. */
function refusal(service: CallOwner, secret: string, status: number, body: unknown): Failure {
  if (status === 401) return new Failure('refused', `${service} does not accept this ${secret}.`);
  const detail = (body as { detail?: unknown } | null)?.detail;
  return new Failure('refused', `${service} refused (${status}): ${detailText(detail)}`);
}

function parse(bytes: Buffer, answerer: string): unknown {
  if (bytes.length === 0) return null;
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    throw new Failure(
      'unreachable',
      `${answerer} gave an answer that is no JSON: something else must be listening there`,
    );
  }
}

/** The innermost cause is the one that names the network's complaint. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const innermost = causesOf(error).at(-1) ?? error;
  if (innermost.name === 'TimeoutError') return `waited ${TIMEOUT_MS / 1000} s for it`;
  return innermost.message || innermost.name;
}
