import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import * as x509 from '@peculiar/x509';

/** A certificate authority for one test file. */
export type Authority = {
  /** PEM. */
  certificate: string;
  /** A certificate for a name or an address, and its key, both in PEM. */
  certify(name: string, options?: CertificateOptions): Promise<{ cert: string; key: string }>;
  /** The same, in the form a server presents. */
  contextFor(name: string, options?: CertificateOptions): Promise<SecureContext>;
};

type CertificateOptions = {
  /** An expired certificate. */
  expired?: boolean;
  /** A self-signed certificate. */
  selfSigned?: boolean;
};

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

export async function createAuthority(): Promise<Authority> {
  const keys = await newKeys();
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    serialNumber: serial(),
    // A unique name: tests in one process trust each other's authorities, and OpenSSL finds them by name.
    name: `CN=Test authority ${serial()}`,
    keys,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  const certify: Authority['certify'] = async (name, { expired = false, selfSigned = false } = {}) => {
    const own = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(expired ? -DAY_MS : DAY_MS),
      serialNumber: serial(),
      subject: `CN=${name}`,
      issuer: selfSigned ? `CN=${name}` : root.subject,
      publicKey: own.publicKey,
      signingKey: selfSigned ? own.privateKey : keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: isIP(name) === 0 ? 'dns' : 'ip', value: name }])],
    });
    const privateKey = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', own.privateKey));
    return {
      cert: certificate.toString('pem'),
      key: `-----BEGIN PRIVATE KEY-----\n${privateKey.toString('base64')}\n-----END PRIVATE KEY-----\n`,
    };
  };
  // Otherwise hundreds of concurrent connections would wait for each other's certificates, and time out.
  const contexts = new Map<string, Promise<SecureContext>>();
  return {
    certificate: root.toString('pem'),
    certify,
    contextFor(name, options) {
      const id = JSON.stringify([name, options]);
      const context = contexts.get(id) ?? certify(name, options).then(createSecureContext);
      contexts.set(id, context);
      return context;
    },
  };
}

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

const serial = () => randomBytes(8).toString('hex');

const validity = (endsInMs = DAY_MS) => ({
  notBefore: new Date(Date.now() - 2 * DAY_MS),
  notAfter: new Date(Date.now() + endsInMs),
});
