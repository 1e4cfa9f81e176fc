import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { unpackDebianPackages } from '@quittance/local-backends/debian-packages.ts';
import { whyNoPython } from '@quittance/local-backends/languages.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '..', '..');
const vectorsFile = join(repository, 'docs', 'vectors', 'payment-proofs.json');
const missing = whyNoPython();

(missing === null ? test : test.skip)(
  'a verifier in Python says the same of each vector of payment proofs',
  async () => {
    type Vectors = { proofs: { name: string }[]; refused: { name: string; step: string }[] };
    const { proofs, refused } = JSON.parse(await readFile(vectorsFile, 'utf8')) as Vectors;
    // Python's own hashlib has SHA-3, but not Keccak with the padding that Ethereum uses.
    const toolsDirectory = join(repository, '.local', 'tools');
    const root = await unpackDebianPackages(toolsDirectory, {
      name: 'pycryptodome',
      packages: ['python3-pycryptodome'],
    });
    const words = [
      '-B',
      join(import.meta.dirname, 'verify_proofs.py'),
      vectorsFile,
      join(repository, 'infra', 'networks.json'),
    ];
    const env = { ...process.env, PYTHONPATH: join(root, 'usr', 'lib', 'python3', 'dist-packages') };
    const { stdout } = await run('python3', words, { env });
    expect(JSON.parse(stdout)).toEqual(
      Object.fromEntries([...proofs.map(({ name }) => [name, null]), ...refused.map(({ name, step }) => [name, step])]),
    );
  },
);
