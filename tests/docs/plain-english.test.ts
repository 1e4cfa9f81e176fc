import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

type Turn = readonly [turn: RegExp, write: string, bad: string, good: string];

/** Expressions that are never plain English, each with a replacement. One that also has a correct use does not belong here. */
const turns: readonly Turn[] = [
  [/\bwhoever\b/i, 'anyone who; any client', 'Whoever asks is told.', 'Any client that asks gets it.'],
  [/[,;:] save that\b/i, 'except that', 'All pass, save that one waits.', 'Open the file, then save that file.'],
  [/\bbe it\b/i, 'whether', 'No reader, be it slow or dead.', 'It may be its own process.'],
  [/\bhas (?!(?:\w+ )?to )(?:\w+ ){1,2}know\b/i, 'notifies', 'It has merchants know.', 'The dispatcher has to know.'],
  [
    /\bstands? in (?!for\b|contrast\b|front\b|the way\b)/i,
    'is in',
    'It stands in the log.',
    'It stands in for a node.',
  ],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, repair', 'Mend the request.', 'They amended the rule.'],
  [/\bwhat (?:it|they) (?:comes?|came) to\b/i, 'the outcome', 'See what it comes to.', 'It is what it seems.'],
  [/\bwhat (?:should )?(?:comes?|came) of\b/i, 'the result', 'Say what came of it.', 'Say what came first.'],
  [/\bwhat waits\b/i, 'waiting messages', 'It sends what waits.', 'It says what to do.'],
  [
    /\b(?:goes|go|went) (?:its|their) way\b/i,
    'is sent; continues',
    'A lone one goes its way.',
    'It goes the other way.',
  ],
  [/\banew\b/i, 'again', 'It is asked anew.', 'It is a new one.'],
  [/\bnobody hears\b/i, 'that no service consumes', 'A message of which nobody hears.', 'Nobody waits.'],
  [/\bkeeps? (?:a|their|its) distance\b/i, 'are spaced', 'Sets keep a distance.', 'They keep their order.'],
  [/\b(?:the|its|their|whose) time is over\b/i, 'has expired', 'The time is over.', 'The time it takes is short.'],
  [/\b(?:tells?|told) of\b/i, 'reports; is notified of', 'It is told of changes.', 'Told to stop, it stops.'],
  [/\bin clear(?=[.,;:)]|$)/im, 'in plain text', 'The key is there in clear.', 'Written in clear words.'],
  [/\ba (?:field|row|column|call|file|message) more\b/i, 'another', 'It has a field more.', 'It has a few more.'],
  [/\banother \w+ than\b/i, 'a … other than', 'It is another key than ours.', 'It is a key other than ours.'],
  [/\bfor want of\b/i, 'without; because … is missing', 'It ends for want of memory.', 'It is short of memory.'],
  [/\bbeside\b/i, 'next to; in addition to', 'It is stored beside the tip.', 'Besides the tip, it stores blocks.'],
  [
    /\bbut for (?!(?:a|an|the) (?:while|moment|time)\b)/i,
    'except',
    'All are confirmed but for large ones.',
    'Small, but fast.',
  ],
  [/\b(?:is|are) no part of\b/i, 'is not part of', 'It is no part of readiness.', 'It has no part of the key.'],
  [/\bheld against\b/i, 'compared with', 'Rows are held against requests.', 'It is held for a second.'],
  [/\b(?:says?|said) of\b/i, 'says about', 'What a server says of a name.', 'It says on which page.'],
  [/\bcomes? about\b/i, 'happens; is established', 'No connection comes about.', 'It comes after about a second.'],
  [/(?:^|[.:] )Who [a-z]+s\b[^?.]*\./m, 'Anyone who', 'Who asks gets it.', 'Who asks? Merchants do.'],
];

/** Texts that nobody has rewritten yet. Remove an entry when its texts are done. */
const notYet = ['packages/checkout-page/'];

/** Histories, migrations (which never change) and generated files. */
const leftAlone =
  /(^|\/)(CHANGELOG\.md|migrations|node_modules|generated|\.local)(\/|$)|^packages\/sdk\/src\/openapi\.ts$/;

const found = (text: string): string[] =>
  turns.flatMap(([turn, write]) => {
    const [words] = turn.exec(text) ?? [];
    return words === undefined ? [] : [`"${words.trim()}": write "${write}"`];
  });

/** The prose of a file: Markdown without code, else the comments. Lines are joined, because a turn may cross them. */
function proseOf(file: string): string {
  const text = readFileSync(join(repositoryRoot, file), 'utf8');
  const prose = file.endsWith('.md')
    ? text.replace(/^ *```[\s\S]*?^ *```$/gm, '').replace(/`[^`\n]*`/g, '')
    : (text.match(file.endsWith('.sql') ? /--.*$/gm : /\/\*[\s\S]*?\*\/|(?<!\S)\/\/.*$/gm) ?? []).join('\n');
  return prose.replace(/\n\s*(?:\*|\/\/|--)? ?(?=[a-z])/g, ' ');
}

const files = globSync(['*.md', '{docs,k8s}/**/*.md', '{services,packages,infra,tests}/**/*.{md,ts,sql,mjs}'], {
  cwd: repositoryRoot,
  exclude: (name) => leftAlone.test(name),
}).filter((file) => !file.endsWith('plain-english.test.ts') && !leftAlone.test(file));

describe.each(turns)('%s', (_, write, bad, good) => {
  test('refuses a bad sentence, says what to write, and accepts a good one', () => {
    expect(found(bad)).toEqual([expect.stringContaining(write)]);
    expect(found(good)).toEqual([]);
  });
});

test('docs and comments have none of these turns', () => {
  expect(files.length).toBeGreaterThan(500);
  const refused = files
    .filter((file) => !notYet.some((folder) => file.startsWith(folder)))
    .flatMap((file) => found(proseOf(file)).map((complaint) => `${file}: ${complaint}`));
  expect(refused).toEqual([]);
});
