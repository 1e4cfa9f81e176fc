import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unpackDebianPackages } from '@quittance/local-backends/debian-packages.ts';

const run = promisify(execFile);
const tools = fileURLToPath(new URL('../../../.local/tools', import.meta.url));

/**
 * Runs promtool, Prometheus' own checker: the machine's, else Debian's, unpacked below `.local/tools`.
 * @returns its output.
 * @throws Error with its whole output when a check fails; an Error that says what to install when there is none.
 */
export async function promtool(args: readonly string[]): Promise<string> {
  const command = await find();
  try {
    return (await run(command, [...args], { maxBuffer: 10_000_000 })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`promtool ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}

let found: Promise<string> | undefined;

function find(): Promise<string> {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place || '/nonexistent', 'promtool'));
  const installed = onPath.find((file) => existsSync(file));
  const unpacked = async () => {
    const root = await unpackDebianPackages(tools, { name: 'prometheus', packages: ['prometheus'] });
    return join(root, 'usr/bin/promtool');
  };
  return (found ??= installed === undefined ? unpacked() : Promise.resolve(installed));
}
