import {
  AddPasskey,
  ConfirmRequest,
  EndSession,
  OpenSessionByPasskey,
  PASSKEYS_MAX,
  ReadAccount,
  RemovePasskey,
  StartConfirmation,
  StartPasskey,
  StartPasskeySignIn,
  type PasskeyOptions,
} from '@quittance/contracts/http/api-gateway/passkeys.ts';
import { sha256 } from '@quittance/contracts/ids.ts';
import type { Principal } from '@quittance/contracts/principal.ts';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import { issueOperatorToken, OPERATOR_TOKEN_SECONDS } from '@quittance/http/operator-token.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import {
  deletePasskey,
  deleteSession,
  findPasskey,
  insertChallenge,
  insertPasskey,
  listPasskeys,
  listSessions,
  setHasPasskey,
  takeChallenge,
  usePasskey,
} from './passkey.sql.ts';
import { auditOwn, countSignIn, openSession, type People } from './sign-in.ts';
import { challengeOf, type Answer, type Webauthn } from './webauthn.ts';
import { principalOf, useAnySession, type SessionPerson } from './session.ts';

const wrongAnswer = (): HttpError => invalid({ field: 'passkey', reason: 'was not accepted: try again' });

const off = (): HttpError => new HttpError(409, 'Passkeys are off: CONSOLE_RP_ID is not set');
const ended = (): HttpError => new HttpError(401, 'This session has ended');

/** Passkeys and sessions of the person who has the session, and confirmations. */
export const accountRoutes = (people: People): Route[] => {
  const { db, transact, webauthn } = people;
  return [
    callRoute(ReadAccount, async ({ body: { session } }) => {
      const person = await personOf(db, session);
      const [passkeys, sessions] = await Promise.all([
        listPasskeys(db, person),
        listSessions(db, person, sha256(session)),
      ]);
      const shown = passkeys.map(({ transports: _, ...passkey }) => withTextTimes(passkey));
      return { passkeys: shown, sessions: sessions.map(withTextTimes) };
    }),
    callRoute(EndSession, ({ body: { session, id } }) =>
      transact(async (tx) => {
        const person = await personOf(tx, session);
        const closed = await deleteSession(tx, person, id);
        if (closed === 0) throw new HttpError(404, 'No open session has this id');
        await auditOwn(tx, person, 'end_session', 'at the console');
        return { closed };
      }),
    ),
    callRoute(StartPasskey, async ({ body: { session, rp_id: rpId } }) => {
      const person = await personOf(db, session);
      const known = await listPasskeys(db, person);
      if (known.length >= PASSKEYS_MAX) throw new HttpError(409, `A person has at most ${PASSKEYS_MAX} passkeys`);
      const { options, challenge } = await on(webauthn).registration(person, known, rpId);
      await insertChallenge(db, { challenge, sessionHash: sha256(session), requestHash: null });
      return { options };
    }),
    addRoute(people),
    callRoute(RemovePasskey, (request) =>
      transact(async (tx) => {
        const { session, id } = request.body;
        const person = await personOf(tx, session);
        requireOwnConfirmation(request, person);
        const removed = await deletePasskey(tx, person, id);
        if (removed === null) throw new HttpError(404, 'You have no such passkey');
        const reason = `the passkey ${removed.name}`;
        await auditOwn(tx, person, 'remove_passkey', reason);
        return withTextTimes(removed);
      }),
    ),
    callRoute(StartConfirmation, async ({ body: { session, request_hash: requestHash, rp_id: rpId } }) => {
      const known = await listPasskeys(db, await personOf(db, session));
      if (known.length === 0) throw new HttpError(409, 'Add a passkey to your account first');
      return start(db, on(webauthn), known, { sessionHash: sha256(session), requestHash, rpId });
    }),
    confirmRoute(people),
  ];
};

/** The first passkey needs no other. A stolen session adds none to an account that has one. */
const addRoute = ({ db, transact, webauthn }: People): Route =>
  callRoute(AddPasskey, async (request) => {
    const { session, name, answer } = request.body;
    const owner = await personOf(db, session);
    const known = await listPasskeys(db, owner);
    if (known.length > 0) requireOwnConfirmation(request, owner);
    if (known.length >= PASSKEYS_MAX) throw new HttpError(409, `A person has at most ${PASSKEYS_MAX} passkeys`);
    const passkey = await on(webauthn).register(answer);
    const sessionHash = sha256(session);
    return transact(async (tx) => {
      const person = await personOf(tx, session);
      const isOpen = await takeChallenge(tx, { challenge: challengeOf(answer), sessionHash, requestHash: null });
      if (!isOpen || passkey === null) throw wrongAnswer();
      // Two first ones at the same time: the second needs a confirmation by the first.
      if ((await listPasskeys(tx, person)).length !== known.length)
        throw new HttpError(409, 'Your passkeys have changed');
      const added = await insertPasskey(tx, person, { ...passkey, name });
      if (added === null) throw wrongAnswer();
      await setHasPasskey(tx, sessionHash);
      await auditOwn(tx, person, 'add_passkey', `the passkey ${name}`);
      return withTextTimes(added);
    });
  });

/** The session has its person's role from then on: the passkey has shown who uses it. */
const confirmRoute = (people: People): Route =>
  callRoute(ConfirmRequest, async ({ body: { session, request_hash: requestHash, answer } }) => {
    const sessionHash = sha256(session);
    const person = await people.transact(async (tx) => {
      const asking = await personOf(tx, session);
      const owner = await ownerOfAnswer(tx, on(people.webauthn), answer, { sessionHash, requestHash });
      if (owner === null || !isSamePerson(owner, asking)) throw new HttpError(403, 'This passkey was not accepted');
      await setHasPasskey(tx, sessionHash);
      return { ...asking, hasPasskey: true };
    });
    const confirming: Principal = { ...principalOf(person, people), confirms: requestHash };
    return { ...confirming, token: issueOperatorToken(people.trust, confirming), expires_in: OPERATOR_TOKEN_SECONDS };
  });

/** Signing in with a passkey, which names its owner. */
export const passkeySignInRoutes = (people: People): Route[] => [
  callRoute(StartPasskeySignIn, async ({ body: { rp_id: rpId, ...place } }) => {
    await countSignIn(people.db, place, 'start');
    return start(people.db, on(people.webauthn), [], { sessionHash: null, requestHash: null, rpId });
  }),
  callRoute(OpenSessionByPasskey, ({ body: { answer, ...place } }) => {
    const webauthn = on(people.webauthn);
    return openSession(people, place, {
      action: 'use_passkey',
      hasPasskey: true,
      use: (tx) => ownerOfAnswer(tx, webauthn, answer, { sessionHash: null, requestHash: null }),
      ownerOf: async (tx) => (await findPasskey(tx, answer.id))?.owner ?? null,
      refusal: 'This passkey signs nobody in',
    });
  }),
];

async function start(
  db: Queryable,
  webauthn: Webauthn,
  known: Parameters<Webauthn['authentication']>[0],
  { rpId, ...about }: { sessionHash: Buffer | null; requestHash: string | null; rpId: string | undefined },
): Promise<PasskeyOptions> {
  const { options, challenge } = await webauthn.authentication(known, rpId);
  await insertChallenge(db, { challenge, ...about });
  return { options };
}

/** Uses the challenge up. @returns who has signed it, or null if nobody has who may sign in. */
async function ownerOfAnswer(
  tx: Queryable,
  webauthn: Webauthn,
  answer: Answer,
  about: { sessionHash: Buffer | null; requestHash: string | null },
): Promise<Principal | null> {
  if (!(await takeChallenge(tx, { challenge: challengeOf(answer), ...about }))) return null;
  const found = await findPasskey(tx, answer.id);
  if (found === null || !found.isEnabled) return null;
  const counter = await webauthn.authenticate(answer, found.passkey);
  if (counter === null) return null;
  await usePasskey(tx, answer.id, counter);
  return found.owner;
}

function on(webauthn: Webauthn | null): Webauthn {
  if (webauthn === null) throw off();
  return webauthn;
}

/** @throws HttpError 401. */
async function personOf(db: Queryable, session: string): Promise<SessionPerson> {
  const person = await useAnySession(db, sha256(session));
  if (person === null) throw ended();
  return person;
}

/** One person's confirmation is worth nothing in another's session. @throws HttpError 401, 403. */
function requireOwnConfirmation({ principal, requireConfirmation }: Confirmable, owner: SessionPerson): void {
  if (principal === null || !isSamePerson(principal, owner)) throw new HttpError(401, "Send the person's own token");
  requireConfirmation();
}

type Confirmable = { principal: Principal | null; requireConfirmation: () => void };

const isSamePerson = (one: Principal, other: Principal): boolean =>
  one.name === other.name &&
  (one.role === 'merchant') === (other.role === 'merchant') &&
  (one.role !== 'merchant' || (other.role === 'merchant' && one.merchant_id === other.merchant_id));
