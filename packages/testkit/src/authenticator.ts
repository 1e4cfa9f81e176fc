import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** What a browser passes to an authenticator. Source: Web Authentication Level 3, W3C. */
type Options = { challenge: string; allowCredentials?: { id: string }[] };

type Answer = { id: string; response: Record<string, unknown> };

const PRESENT_AND_VERIFIED = 0x05;
const HAS_KEY = 0x40;

/**
 * A device with passkeys and the browser in front of it, without either: ES256, no attestation.
 * @param counts whether it counts its signatures. Passkeys that a vendor copies between devices always say 0.
 */
export function createAuthenticator({
  origin,
  rpId,
  counts = false,
}: {
  origin: string;
  rpId: string;
  counts?: boolean;
}) {
  const passkeys = new Map<string, KeyObject>();
  let counter = 0;

  const dataOf = (flags: number, more: Buffer[] = []): Buffer => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counts ? (counter += 1) : 0);
    return Buffer.concat([sha256(rpId), Buffer.of(flags), count, ...more]);
  };
  const clientData = (type: string, { challenge }: Options): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

  return {
    /** As `navigator.credentials.create`. */
    create(options: object): Answer {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const id = randomBytes(16);
      passkeys.set(id.toString('base64url'), privateKey);
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
      const coseKey = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ]);
      const data = dataOf(PRESENT_AND_VERIFIED | HAS_KEY, [Buffer.alloc(16), Buffer.of(0, id.length), id, coseKey]);
      const attestationObject = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
        Buffer.of(0x58, data.length),
        data,
      ]);
      return answer(id.toString('base64url'), {
        clientDataJSON: clientData('webauthn.create', options as Options),
        attestationObject,
      });
    },

    /** As `navigator.credentials.get`, with the newest passkey that may sign. */
    get(options: object): Answer {
      const { allowCredentials } = options as Options;
      const mine = [...passkeys.keys()].reverse();
      const id = mine.find((own) => !allowCredentials || allowCredentials.some((allowed) => allowed.id === own));
      const key = id === undefined ? undefined : passkeys.get(id);
      if (id === undefined || key === undefined) throw new Error('the device has no passkey that may sign');
      const clientDataJSON = clientData('webauthn.get', options as Options);
      const authenticatorData = dataOf(PRESENT_AND_VERIFIED);
      const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)]);
      const signature = sign('sha256', signed, key);
      return answer(id, { clientDataJSON, authenticatorData, signature });
    },
  };
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

const answer = (id: string, response: Record<string, Buffer>): Answer => ({
  id,
  response: Object.fromEntries(Object.entries(response).map(([name, bytes]) => [name, bytes.toString('base64url')])),
});
