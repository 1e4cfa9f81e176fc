import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { NOTIFIER, OPS, type Caller, serviceNames } from '@quittance/contracts/service-name.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { fewAtATime, send, type HttpAnswer } from '../support/http.ts';
import { patience } from '../support/paying.ts';
import type { Attack, Check, Trial } from './attack.ts';
import { ask } from './support/ask.ts';
import { callsOfServices, type ServiceCall as Call } from '../../packages/contracts/test/declared-calls.ts';
import { pathWithIds } from './support/internal-calls.ts';
import { encoded, inSeconds, mintCall, mintOperator, YEARS } from './support/minted.ts';

type Headers = Record<string, string>;
/** Credentials for an internal call; `null` if there is nothing to try. */
type Forging = (call: Call) => Headers | null;

/** Fewer would mean that the search failed. */
const CALLS_MIN = 70;

const callers: readonly Caller[] = [...serviceNames, NOTIFIER, OPS];

export const attack: Attack = {
  name: 'tokens',
  about: 'every internal call, with the stolen signing key of one process: other calls, minted tokens, other claims',
  async checks({ stack }) {
    const calls = [...callsOfServices];
    if (calls.length < CALLS_MIN) throw new Error(`only ${calls.length} internal calls were found`);
    const few = fewOf(calls);
    return [
      ...callers.map((caller) => withKey(stack, calls, caller)),
      ...lives(stack, calls, few),
      ...claims(stack, calls, few),
      ...operators(stack, calls),
      ...sharedTokens(stack, calls, few),
      publicDoor(stack, calls),
    ];
  },
};

/** One call of each service for each kind of caller: enough for the many unusual tokens. */
const fewOf = (calls: Call[]): Call[] => [
  ...new Map(calls.map((call) => [`${call.owner} ${call.access} ${call.callers.join(' ')}`, call])).values(),
];

/** With a body that has no effect, and ids that do not exist. */
const make = (call: Call, stack: StackFile, headers: Headers): Promise<HttpAnswer> =>
  send(call.method, stack.services[call.owner].url + pathWithIds(call), {
    headers,
    ...(call.method !== 'GET' && { body: {} }),
  });

/** As declared in the contracts. The key of ops may make all calls of operators, whatever their role. */
const mayCall = (caller: Caller, { access, callers: named }: Call): boolean =>
  caller === OPS ? access !== 'services' : named.includes(caller);

/** A caller that may make this call, so that only the token can be refused. */
const aCallerOf = (call: Call): Caller => call.callers[0] ?? OPS;

const withKey = (stack: StackFile, calls: Call[], caller: Caller): Check => ({
  name: `the key of ${caller} makes the calls that name it and no others`,
  async run(trial) {
    const answers = await fewAtATime(calls.map((call) => () => make(call, stack, callAs(stack, call.owner, caller))));
    let admitted = 0;
    for (const [index, { status, text }] of answers.entries()) {
      const call = calls[index]!;
      const { owner, method, path, access } = call;
      const may = access !== 'anyone' && mayCall(caller, call);
      if (may) admitted += 1;
      // Calls for anyone carry their own secret, and a wrong one is refused.
      const isRight = access === 'anyone' ? status >= 400 : may ? status !== 401 && status !== 403 : status === 403;
      trial.holds(isRight, () => `${owner} answered ${method} ${path} with ${status} ${text.slice(0, 200)}`);
    }
    const known = calls.filter((call) => call.access !== 'anyone' && mayCall(caller, call)).length;
    trial.same('calls that it may make', admitted, known);
  },
});

/** 401, except for calls that carry their own secret, where a wrong secret is refused too. */
async function shutOut(trial: Trial, stack: StackFile, calls: Call[], forge: Forging): Promise<void> {
  const tried = calls.flatMap((call) => {
    const headers = forge(call);
    return headers === null ? [] : [{ call, headers }];
  });
  const answers = await fewAtATime(
    tried.map(
      ({ call, headers }) =>
        () =>
          make(call, stack, headers),
    ),
  );
  for (const [index, { status, text }] of answers.entries()) {
    const { owner, method, path, access } = tried[index]!.call;
    const wanted = access === 'anyone' ? [401, 422] : [401];
    trial.holds(
      wanted.includes(status),
      () => `${owner} answered ${method} ${path} with ${status} ${text.slice(0, 200)}`,
    );
  }
}

const opensNothing = (stack: StackFile, calls: Call[], what: string, ...forgings: Forging[]): Check => ({
  name: `${what} opens nothing`,
  async run(trial) {
    for (const forge of forgings) await shutOut(trial, stack, calls, forge);
  },
});

const callToken = (token: string): Headers => ({ 'X-Call-Token': token });
const operatorToken = (token: string): Headers => ({ 'X-Operator-Token': token });

function lives(stack: StackFile, calls: Call[], few: Call[]): Check[] {
  /** Valid except for its lifetime. */
  const expiring =
    (expiresAt: unknown): Forging =>
    (call) => {
      const caller = aCallerOf(call);
      const minted = { caller, audience: call.owner, expires_at: expiresAt };
      return callToken(mintCall(stack.signing_keys[caller], minted));
    };
  return [
    {
      name: 'a token minted here as the processes do is accepted, so the format is right',
      async run(trial) {
        const answers = await fewAtATime(
          calls.map((call) => () => make(call, stack, expiring(inSeconds(60))(call) ?? {})),
        );
        for (const [index, { status, text }] of answers.entries()) {
          const { owner, method, path, access, callers: named } = calls[index]!;
          const isOfPeople = access === 'anyone' || (access === 'services' && named.length === 0);
          if (!isOfPeople)
            trial.holds(
              status !== 401 && status !== 403,
              () => `${owner} answered ${method} ${path} with ${status} ${text.slice(0, 200)}`,
            );
        }
      },
    },
    opensNothing(
      stack,
      calls,
      'a token that lives longer than two minutes',
      ...[180, 3_600, YEARS].map((seconds) => expiring(inSeconds(seconds))),
    ),
    opensNothing(stack, calls, 'an expired token', ...[-1, -3_600].map((left) => expiring(inSeconds(left)))),
    opensNothing(
      stack,
      few,
      'a token without a time, or with one that is no number',
      ...[undefined, null, String(inSeconds(60)), '1e99', true, [inSeconds(60)]].map(expiring),
    ),
  ];
}

function claims(stack: StackFile, calls: Call[], few: Call[]): Check[] {
  const { signing_keys: keys } = stack;
  const expires_at = inSeconds(60);
  const others = (one: string) => callers.filter((caller) => caller !== one);
  return [
    opensNothing(
      stack,
      calls,
      'a token for another service',
      ...[0, 1, 2, 3].map((position): Forging => (call) => {
        const audience = serviceNames.filter((name) => name !== call.owner)[position]!;
        return callAs(stack, audience, aCallerOf(call));
      }),
      ...['', '*', null, undefined, [...serviceNames]].map((audience): Forging => (call) => {
        const caller = aCallerOf(call);
        return callToken(mintCall(keys[caller], { caller, audience, expires_at }));
      }),
    ),
    opensNothing(
      stack,
      calls,
      'a token that is signed with the key of another process than it names',
      ...[0, 1, 2, 3, 4].map((position): Forging => (call) => {
        const caller = aCallerOf(call);
        const thief = others(caller)[position]!;
        return callToken(mintCall(keys[thief], { caller, audience: call.owner, expires_at }));
      }),
    ),
    opensNothing(
      stack,
      calls,
      'a right token with another caller, service or time written into it',
      (call) => {
        const [, signature = ''] = rightToken(stack, call, others(aCallerOf(call))[0]!);
        return callToken(`${encoded({ caller: aCallerOf(call), audience: call.owner, expires_at })}.${signature}`);
      },
      (call) => {
        const caller = aCallerOf(call);
        const [, signature = ''] = rightToken(stack, call, caller);
        return callToken(`${encoded({ caller, audience: call.owner, expires_at: inSeconds(100) })}.${signature}`);
      },
      (call) => callToken(`${rightToken(stack, call, aCallerOf(call))[0]}.`),
      (call) => callToken(rightToken(stack, call, aCallerOf(call)).join('.').slice(0, -4)),
      (call) => callToken(`${rightToken(stack, call, aCallerOf(call)).join('.')}.${'A'.repeat(86)}`),
    ),
    opensNothing(
      stack,
      few,
      'a token that names nobody who exists',
      ...['any service', '', '__proto__', 'toString', 'nginx', null, [aCallerOf(calls[0]!)]].flatMap((caller) =>
        callers.map(
          (thief): Forging =>
            (call) =>
              callToken(mintCall(keys[thief], { caller, audience: call.owner, expires_at })),
        ),
      ),
    ),
    opensNothing(
      stack,
      few,
      'a signature of a token for people, or of none at all, on a token for calls',
      (call) => {
        const caller = aCallerOf(call);
        return callToken(mintOperator(keys[caller], { caller, audience: call.owner, expires_at }).replace('..', '.'));
      },
      (call) => callToken(rightToken(stack, call, aCallerOf(call))[0]!),
      () => callToken('.'),
    ),
  ];
}

const rightToken = (stack: StackFile, { owner }: Call, caller: Caller): string[] =>
  (callAs(stack, owner, caller)['x-call-token'] ?? '').split('.');

/** Only the key of api-gateway can vouch for people; no other service can name an administrator. */
function operators(stack: StackFile, calls: Call[]): Check[] {
  const { signing_keys: keys } = stack;
  const admin = (seconds: number) => ({ name: 'root', role: 'admin', expires_at: inSeconds(seconds) });
  const merchant = { name: 'root', role: 'merchant', merchant_id: stack.merchant.merchant_id, merchant_role: 'viewer' };
  return [
    ...callers
      .filter((caller) => caller !== 'api-gateway')
      .map((caller) =>
        opensNothing(
          stack,
          calls,
          `a token of an administrator, or of a merchant's person, minted with the key of ${caller}`,
          () => operatorToken(mintOperator(keys[caller], admin(60))),
          () => operatorToken(mintOperator(keys[caller], admin(YEARS))),
          () => operatorToken(mintOperator(keys[caller], { ...merchant, expires_at: inSeconds(60) })),
          // In addition to its own call token, which is valid for some calls.
          (call) => ({
            ...operatorToken(mintOperator(keys[caller], admin(60))),
            ...callAs(stack, call.owner, caller),
          }),
        ),
      ),
    opensNothing(
      stack,
      calls,
      'a token of an administrator that lasts for 31 years, or is signed as a token for calls',
      () => operatorToken(mintOperator(keys['api-gateway'], admin(YEARS))),
      () => operatorToken(mintOperator(keys['api-gateway'], admin(3_600))),
      () => operatorToken(mintCall(keys['api-gateway'], admin(60)).replace('.', '..')),
    ),
  ];
}

/** The token that opened everything up to release 0.2.0, and signed for people. A stack that began with this release has none. */
function sharedTokens(stack: StackFile, calls: Call[], few: Call[]): Check[] {
  const guess = randomBytes(32).toString('hex');
  const guesses = ['', ...Object.values(stack.signing_keys)];
  const text = encoded({ name: 'root', role: 'admin', expires_at: inSeconds(60) });
  const signed = (token: string): string => {
    const key = Buffer.from(hkdfSync('sha256', token, '', 'operator token v1', 32));
    return createHmac('sha256', key).update(text).digest('base64url');
  };
  return [
    opensNothing(stack, calls, 'the token that services shared in earlier releases', () => ({
      'X-Internal-Token': guess,
    })),
    opensNothing(
      stack,
      few,
      'an empty token of earlier releases, or a key of a process in its place',
      ...guesses.map((token): Forging => () => ({ 'X-Internal-Token': token })),
    ),
    opensNothing(
      stack,
      few,
      'a token of an administrator as earlier releases signed it',
      ...[guess, ...guesses].flatMap((token): Forging[] => [
        () => operatorToken(`${text}.${signed(token)}`),
        () => operatorToken(`${text}.${signed(token)}.`),
      ]),
      () => operatorToken(`${text}.`),
      () => operatorToken(`${text}..`),
    ),
  ];
}

const publicDoor = (stack: StackFile, calls: Call[]): Check => ({
  name: 'no key of a process opens anything through the public door',
  async run(trial) {
    const tried = calls.flatMap((call) => ([aCallerOf(call), OPS] as const).map((caller) => ({ call, caller })));
    const answers = await fewAtATime(
      tried.map(({ call, caller }) => () => {
        const headers = { ...callAs(stack, call.owner, caller), ...operatorToken(adminOf(stack)) };
        // An edge in a container counts all clients on this machine together.
        return eventually(async () => {
          const answer = await ask(call.method, stack.edge_url + pathWithIds(call), { headers });
          if (answer.status === 429) throw new Error('the edge asks for patience');
          return answer;
        }, patience);
      }),
    );
    for (const [index, { status, text }] of answers.entries()) {
      const { call, caller } = tried[index]!;
      trial.same(
        `${call.method} ${call.path} by ${caller}`,
        [status, text],
        [404, '{"detail":"Not found","code":"not_found"}'],
      );
    }
  },
});

const adminOf = ({ signing_keys: keys }: StackFile): string =>
  mintOperator(keys['api-gateway'], { name: 'root', role: 'admin', expires_at: inSeconds(60) });
