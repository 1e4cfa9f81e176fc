import type { Result } from './check.ts';
import type { CheckReport, Report } from './rehearse.ts';

const colours: Record<Result, string> = { ok: '32', fault: '1;31', advice: '33', unseen: '2' };
const words: Record<Result, string> = { ok: 'ok', fault: 'FAULT', advice: 'advice', unseen: 'unseen' };
const WIDTH = 110;

/** The report for people: one line for each check, then each finding with its reason and what to do. */
export function printed({ checks, slowest_ms: slowestMs }: Report, isColoured: boolean): string {
  const paint = (result: Result, text: string): string =>
    isColoured ? `\u001b[${colours[result]}m${text}\u001b[0m` : text;
  const of = (result: Result): CheckReport[] => checks.filter((check) => check.result === result);
  // In that case the others have no result.
  const isFirstFaulty = checks[0]?.result === 'fault';
  const findings = [...of('fault'), ...of('advice')];
  const counts = (['ok', 'fault', 'advice', 'unseen'] as const).map((result) => `${of(result).length} ${result}`);
  return [
    ...(isFirstFaulty ? of('fault') : checks).map(
      ({ result, title }) => `  ${paint(result, words[result].padEnd(6))}  ${title}`,
    ),
    ...findings.flatMap(({ result, title, seen = '', why, todo = '' }) => [
      '',
      `${paint(result, words[result])}  ${title}`,
      ...paragraph('Seen', seen),
      ...paragraph('Why', why),
      ...paragraph('Do', todo),
    ]),
    ...(isFirstFaulty ? [] : notSeen(of('unseen'))),
    '',
    `${checks.length} checks: ${counts.join(', ')}.` +
      (isFirstFaulty ? '' : ` The slowest answer to a genuine event took ${slowestMs} ms.`),
    '',
  ].join('\n');
}

/** Groups checks with the same reason, and adds what no check can see. */
function notSeen(checks: readonly CheckReport[]): string[] {
  const reasons = [...new Set(checks.map(({ seen = '' }) => seen))];
  return reasons
    .flatMap((reason) => [
      '',
      `Not seen: ${reason}`,
      ...checks.filter(({ seen }) => seen === reason).map(({ title }) => `  - ${title}`),
    ])
    .concat([
      '',
      'No check from outside can see whether the event and its effect are saved in one transaction, or whether an error of your',
      'database is answered with 5xx, so that the event is sent again: check your code for that.',
    ]);
}

function paragraph(name: string, text: string): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length + 1 > WIDTH && line !== '') lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line, index) => `  ${(index === 0 ? name : '').padEnd(6)}${line}`);
}
