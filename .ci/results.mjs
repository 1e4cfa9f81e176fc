/**
 * Reads what `jest --json` wrote.
 *
 *   node results.mjs failed <run>          the test files that failed, one a line, if a second look is worth taking
 *   node results.mjs count <run> [<again>] the last lines of CI; files of the second run count as they ended there
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** More than these is no chance meeting of two busy tests. */
const MOST_FILES_LOOKED_AT_AGAIN = 3;

const [command, ...files] = process.argv.slice(2);
const [run = [], again = []] = files.map(read);

if (command === 'failed') {
  const failed = run.filter((file) => file.status === 'failed');
  if (failed.length <= MOST_FILES_LOOKED_AT_AGAIN) for (const { name } of failed) console.log(name);
} else {
  const last = new Map([...run, ...again].map((file) => [file.name, file]));
  for (const { name, status } of again)
    if (status === 'passed') console.log(`failed beside others and passed alone: ${relative(process.cwd(), name)}`);
  const all = [...last.values()];
  const passed = count(all, 'passed');
  // A file that could not be loaded has failed without a test of its own.
  const failed = Math.max(count(all, 'failed'), all.filter(({ status }) => status === 'failed').length);
  console.log(`${passed} passed, ${failed} failed`);
}

/** The files of a run; none when it never came to the tests. */
function read(path) {
  const text = readFileSync(path, 'utf8');
  return text === '' ? [] : JSON.parse(text).testResults;
}

function count(all, wanted) {
  return all.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status === wanted).length;
}
