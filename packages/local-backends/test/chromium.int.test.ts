import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import { findChromium, unpackedChromium } from '../src/chromium.ts';
import { toolsDirectory } from './support.ts';

const run = promisify(execFile);

/** Other systems don't have these packages; a browser must be installed there. */
const isDebian = process.platform === 'linux' && /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'));

afterEach(() => {
  delete process.env.CHROMIUM;
});

(isDebian ? test : test.skip)(
  "Debian's browser runs from where it was unpacked, with every library and a font",
  async () => {
    const { program, env } = await unpackedChromium(toolsDirectory);
    const page =
      'data:text/html,<p>ready<script>document.body.append(document.querySelector("p").offsetHeight > 5)</script>';
    const args = ['--no-sandbox', '--disable-gpu', '--dump-dom', page];
    const { stdout } = await run(program, args, { env: { ...process.env, ...env }, timeout: 150_000 });
    expect(stdout).toContain('</p>true</body>');
  },
  300_000,
);

test('a named browser is used, and one that does not exist is refused', async () => {
  process.env.CHROMIUM = process.execPath;
  expect(await findChromium({ toolsDirectory })).toMatchObject({ program: process.execPath, env: {} });
  process.env.CHROMIUM = '/nowhere/chromium';
  await expect(findChromium({ toolsDirectory })).rejects.toThrow('CHROMIUM names no file: /nowhere/chromium');
});
