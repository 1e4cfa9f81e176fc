import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCertificateAuthority, openCertificateAuthority } from '@quittance/local-backends/certificates.ts';
import { required } from './environment.ts';

const VOLUME = '/app/volume';

/**
 * A certificate for the notifier's name, and the authority with which webhook-dispatcher verifies it. The authority is kept,
 * so that a new certificate needs no restart of webhook-dispatcher.
 */
export async function certifyNotices(env: NodeJS.ProcessEnv, directory = VOLUME): Promise<string> {
  const host = required(env, 'NOTICES_HOST');
  const authority = await openCertificateAuthority(await ensureCertificateAuthority(join(directory, 'certificates')));
  const { cert, key } = await authority.issue(host);
  const keyFile = join(directory, 'key.pem');
  await writeFile(keyFile, key, { mode: 0o600 });
  await chmod(keyFile, 0o600);
  await writeFile(join(directory, 'certificate.pem'), cert);
  return `${host} has a certificate for a year`;
}
