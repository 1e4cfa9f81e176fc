import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import * as x509 from '@peculiar/x509';

/** A certificate authority that lives as long as one test file. */
export type Authority = {
  /** PEM. */
  certificate: string;
  /** What a server presents for a name. @param options.expired makes it one that ended yesterday. */
  contextFor(name: string, options?: { expired?: boolean }): Promise<SecureContext>;
};

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

export async function createAuthority(): Promise<Authority> {
  const keys = await newKeys();
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    serialNumber: serial(),
    name: 'CN=Test authority',
    keys,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  return {
    certificate: root.toString('pem'),
    async contextFor(name, { expired = false } = {}) {
      const own = await newKeys();
      const certificate = await x509.X509CertificateGenerator.create({
        ...validity(expired ? -DAY_MS : DAY_MS),
        serialNumber: serial(),
        subject: `CN=${name}`,
        issuer: root.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }])],
      });
      const privateKey = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', own.privateKey));
      return createSecureContext({
        cert: certificate.toString('pem'),
        key: `-----BEGIN PRIVATE KEY-----\n${privateKey.toString('base64')}\n-----END PRIVATE KEY-----\n`,
      });
    },
  };
}

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

const serial = () => randomBytes(8).toString('hex');

const validity = (endsInMs = DAY_MS) => ({
  notBefore: new Date(Date.now() - 2 * DAY_MS),
  notAfter: new Date(Date.now() + endsInMs),
});
