import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { createPrivateKey, randomBytes, webcrypto } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';

export type CertificateFiles = { certificateFile: string; keyFile: string };

export type CertificateAuthority = CertificateFiles & {
  /**
   * A server certificate for any host name or IP address, with its key; both PEM. Created once per name and kept in
   * memory.
   */
  issue(hostname: string): Promise<{ cert: string; key: string }>;
};

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const maxCachedCertificates = 1000;
const dayMs = 86_400_000;

/** Creates the authority's two PEM files in `directory` if they are missing. Only the owner can read the key. */
export async function ensureCertificateAuthority(directory: string): Promise<CertificateFiles> {
  const files = { certificateFile: join(directory, 'ca.pem'), keyFile: join(directory, 'ca-key.pem') };
  if (existsSync(files.certificateFile) && existsSync(files.keyFile)) return files;
  await mkdir(directory, { recursive: true });
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity(3650),
    serialNumber: randomBytes(16).toString('hex'),
    name: `CN=Quittance local ${randomBytes(4).toString('hex')}`,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  await replaceFile(files.keyFile, await privatePem(keys.privateKey), 0o600);
  await replaceFile(files.certificateFile, certificate.toString('pem'), 0o644);
  return files;
}

/** @throws Error when the files are missing, or are not a certificate and a key. */
export async function openCertificateAuthority(files: CertificateFiles): Promise<CertificateAuthority> {
  const issuer = new X509Certificate(await readFile(files.certificateFile, 'utf8'));
  const der = createPrivateKey(await readFile(files.keyFile, 'utf8')).export({ type: 'pkcs8', format: 'der' });
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
  // One key for all names, because all are served by the same receiver.
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const key = await privatePem(keys.privateKey);
  const cache = new Map<string, Promise<string>>();

  const certificateFor = async (hostname: string) => {
    const certificate = await X509CertificateGenerator.create({
      ...validity(365),
      serialNumber: randomBytes(16).toString('hex'),
      subject: 'CN=Quittance local receiver',
      issuer: issuer.subject,
      publicKey: keys.publicKey,
      signingKey,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension([{ type: isIP(hostname) ? 'ip' : 'dns', value: hostname }]),
        await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ],
    });
    return certificate.toString('pem');
  };
  return {
    ...files,
    issue: async (name) => {
      const hostname = name.toLowerCase();
      let cert = cache.get(hostname);
      if (!cert) {
        if (cache.size >= maxCachedCertificates) cache.clear();
        cache.set(hostname, (cert = certificateFor(hostname)));
      }
      return { cert: await cert, key };
    },
  };
}

/** Starts yesterday, for clocks that differ. */
function validity(days: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - dayMs), notAfter: new Date(now + days * dayMs) };
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, type: 'pkcs8', format: 'der' }).export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
}

async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  await writeFile(`${file}.next`, text, { mode });
  await rename(`${file}.next`, file);
}
