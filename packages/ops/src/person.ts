import { createInterface } from 'node:readline';
import type { Author } from '@quittance/contracts/author.ts';
import { isActorOfOperator } from '@quittance/contracts/principal.ts';
import type { Config } from './config.ts';
import { Failure } from './failure.ts';
import { oneLine } from './text.ts';

/** The part of a body that goes into the audit. @throws Failure when the author is unknown. */
export function authorOf(
  { actor, reason }: { actor?: string | undefined; reason: string },
  { user, operatorCredential }: Config,
): Author {
  const isSignedIn = operatorCredential !== '';
  if (isSignedIn && actor !== undefined)
    throw new Failure('wrongUse', 'With OPERATOR_CREDENTIAL the audit names the operator: leave --actor out.');
  // The services put the operator's name in its place.
  const name = isSignedIn ? user || 'operator' : (actor ?? user);
  if (name === '')
    throw new Failure(
      'wrongUse',
      'Say who you are with --actor: the audit names the author of every change, and this system does not know you.',
    );
  // The services refuse it too, but what is done to dead letters is written to RabbitMQ directly.
  if (isActorOfOperator(name))
    throw new Failure('wrongUse', 'An actor must not look like @name, which marks people who signed in.');
  return { actor: name, reason };
}

/** The terminal the question is asked at; `process` is one. */
export type Terminal = {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  /** The question goes here, so that stdout keeps the result alone. */
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
};

/**
 * Asks before something that cannot be undone, or that stops a merchant's business.
 * @param question or how to find out what to ask, for which only a person has use.
 * @throws Failure when the answer is not yes, or when there is no terminal to ask at and neither `--yes` nor `--json` was given.
 */
export async function confirm(
  question: string | (() => Promise<string>),
  { yes = false, json = false }: { yes?: boolean; json?: boolean },
  terminal: Terminal = process,
): Promise<void> {
  // A caller that asks for JSON is a program, which has decided already.
  if (yes || json) return;
  if (terminal.stdin.isTTY !== true || terminal.stderr.isTTY !== true) {
    const asked = typeof question === 'string' ? question : 'This must be confirmed.';
    throw new Failure('wrongUse', `${asked} There is no terminal to ask at: add --yes to go ahead.`);
  }
  const text = typeof question === 'string' ? question : await question();
  const lines = createInterface({ input: terminal.stdin, output: terminal.stderr });
  lines.setPrompt(`${oneLine(text)} Type yes to go ahead: `);
  lines.prompt();
  // Ctrl-C and Ctrl-D close it without an answer.
  const answer = await new Promise<string>((resolve) => lines.once('line', resolve).once('close', () => resolve('')));
  lines.close();
  if (answer.trim().toLowerCase() !== 'yes') throw new Failure('refused', 'Nothing was changed.');
}
