import { readFile } from 'node:fs/promises';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { journeyStack } from '../../support/journey-stack.ts';

export type ContractStack = { file: StackFile; close: () => Promise<void> };

/**
 * The system under test: two replicas of every service behind the edge. CONFORMANCE_STACK may name the stack.json of a running system,
 * which is then used and left running.
 */
export async function contractStack(): Promise<ContractStack> {
  const running = process.env['CONFORMANCE_STACK'];
  if (running === undefined || running === '') return journeyStack({ replicas: 2, sharesBroker: true });
  const file = JSON.parse(await readFile(running, 'utf8')) as StackFile;
  return { file, close: () => Promise.resolve() };
}
