import { randomBytes } from 'node:crypto';
import { addressOf, createDatabase, prepareSchema } from '@quittance/postgres/roles/service-databases.ts';
import { callJson } from './call-json.ts';
import { registerLocalMerchant } from './demo-merchant.ts';
import { readJson, writePrivateJson, type StackDirectory } from './directory.ts';
import type { DemoMerchant, StackFile } from './stack-file.ts';

/** What the example shop keeps in addition to its orders: its account and its passwords. */
export type ShopFile = { merchant: DemoMerchant; admin_password: string; database_password: string };

export const shopHost = 'example-shop.quittance.example';

/** The shop's account and secrets, created once and kept in `.local`. */
export async function shopAccount(directory: StackDirectory, stack: StackFile): Promise<ShopFile> {
  const gateway = { gatewayUrl: stack.gateway_url, signing_keys: stack.signing_keys };
  const kept = await readJson<ShopFile>(directory.shopFile);
  if (kept !== null) return kept;
  const merchant = await registerLocalMerchant(gateway, 'Example shop', `https://${shopHost}/webhook`);
  const profile = `${stack.gateway_url}/api/v1/merchant/profile`;
  await callJson(profile, 'PUT', { 'X-API-Key': merchant.api_key }, { display_name: 'Kettle & Leaf' });
  const secret = () => randomBytes(12).toString('hex');
  const account = { merchant, admin_password: secret(), database_password: secret() };
  await writePrivateJson(directory.shopFile, account);
  return account;
}

/** A database on the stack's server, and a role that can use only this database. @returns its address. */
export async function shopDatabase({ postgres_url: server }: StackFile, password: string): Promise<string> {
  const [database, role] = ['example_shop', 'example_shop'];
  await createDatabase(server, database);
  const adminUrl = addressOf(server, { database });
  await prepareSchema({ adminUrl, schema: 'shop', role, password });
  return addressOf(adminUrl, { role, password });
}
