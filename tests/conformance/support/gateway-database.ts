import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { inDatabase } from '../../support/database.ts';

const role = 'quittance_gateway';

/** Blocks the database only for the gateway, so that the services behind it could answer what it lets through. */
export async function admitGateway(stack: StackFile, isAdmitted: boolean): Promise<void> {
  await inDatabase(stack, `alter role ${role} ${isAdmitted ? 'login' : 'nologin'}`);
}

/** The processes of the database server that serve the gateway's connections. */
export async function connectionsOfGateway(stack: StackFile): Promise<number[]> {
  const text = 'select pid from pg_stat_activity where usename = $1';
  return (await inDatabase<{ pid: number }>(stack, text, [role])).map(({ pid }) => pid);
}

/** Those that run a statement or hold a transaction. */
export async function busyConnectionsOfGateway(stack: StackFile): Promise<number[]> {
  const text = `select pid from pg_stat_activity where usename = $1 and state <> 'idle'`;
  return (await inDatabase<{ pid: number }>(stack, text, [role])).map(({ pid }) => pid);
}

export async function endConnectionsOfGateway(stack: StackFile): Promise<void> {
  await inDatabase(stack, 'select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role]);
}
