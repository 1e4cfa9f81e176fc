import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export type Storefront = { url: string; close(): Promise<void> };

/**
 * Serves one page as the shop's storefront: its script does what the README of the integration asks of a storefront, and no more.
 * @param settings what the page must know; read when it is loaded.
 */
export async function openStorefront(page: string, settings: () => object): Promise<Storefront> {
  const html = await readFile(join(import.meta.dirname, '..', page), 'utf8');
  const server = createServer((request, response) => {
    if (request.url === '/favicon.ico') return void response.writeHead(204).end();
    const text = html.replace('/* settings */', `const settings = ${JSON.stringify(settings())};`);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
