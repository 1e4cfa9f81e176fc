import { request as plainRequest, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { eventually } from '@quittance/testkit/eventually.ts';
import { deploy, publicHost, type Deployment } from '../deployment.ts';
import { patience } from '../docker.ts';
import type { Part } from '../part.ts';

type Answer = { status: number; headers: IncomingHttpHeaders; body: string; issuer: string };

export const part: Part = {
  name: 'tls',
  about:
    'a production deployment by init: Caddy gets its certificate by itself from a local authority, and HTTPS leads to the edge; it is killed and restarts',
  run: async (context) => {
    const deployment = await deploy(context, {
      files: ['tests/engine/authority.yml'],
      settings: {
        ENGINE_HOST_NAME: publicHost,
        TLS_ACME_DIRECTORY: 'https://authority:14000/acme/local/directory',
      },
    });
    context.say(`https   ${await checkHttps(deployment)}`);
    await deployment.survives('tls');
    context.say(`https   ${await checkHttps(deployment)}`);
  },
};

/** @throws Error when an answer differs from that of the edge behind its proxy. @returns the answers. */
async function checkHttps({ compose }: Deployment): Promise<string> {
  const root = 'cat /tmp/caddy/pki/authorities/local/root.crt';
  const ca = await compose('exec', '-T', 'authority', 'sh', '-c', root);
  const { status, headers, body, issuer } = await eventually(
    () => ask(`https://${publicHost}/openapi.json`, ca),
    patience,
  );
  const strict = headers['strict-transport-security'];
  if (status !== 200 || !body.includes('"openapi"') || strict === undefined)
    throw new Error(`https answered ${status}, ${JSON.stringify(headers)}: ${body.slice(0, 500)}`);
  const plain = await ask(`http://${publicHost}/openapi.json`, ca);
  if (plain.status !== 308 || plain.headers.location !== `https://${publicHost}/openapi.json`)
    throw new Error(`http answered ${plain.status} to ${plain.headers.location ?? 'nowhere'}`);
  return `200 with a certificate of ${issuer} and Strict-Transport-Security; http is redirected to it`;
}

/** Sends a request as if the name resolved to this machine. */
function ask(url: string, ca: string): Promise<Answer> {
  const send = url.startsWith('https:') ? request : plainRequest;
  return new Promise((resolve, reject) => {
    const options = { hostname: '127.0.0.1', servername: publicHost, headers: { host: publicHost }, ca, agent: false };
    const sent = send(url, options, (answer) => {
      const { issuer } = (answer.socket as Partial<TLSSocket>).getPeerCertificate?.() ?? {};
      text(answer).then(
        (body) =>
          resolve({ status: answer.statusCode!, headers: answer.headers, body, issuer: String(issuer?.CN ?? '') }),
        reject,
      );
    });
    sent.on('error', reject).end();
  });
}
