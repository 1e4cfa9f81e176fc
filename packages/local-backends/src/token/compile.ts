import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** What the local stack and the tests need of the token. It is committed, so that they need no compiler. */
export type TokenArtifact = { compiler: string; abi: { type: string; name?: string }[]; bytecode: string };

type CompilerOutput = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, { abi: TokenArtifact['abi']; evm: { bytecode: { object: string } } }>>;
};

const sourceFile = new URL('TestUsdt.sol', import.meta.url);
const artifactFile = new URL('test-usdt.json', import.meta.url);

/**
 * Compiles TestUsdt.sol with the pinned compiler so that every machine produces the same bytes.
 * @throws Error with the compiler's errors and warnings.
 */
export function compileToken(): TokenArtifact {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string; version(): string };
  const input = {
    language: 'Solidity',
    sources: { 'TestUsdt.sol': { content: readFileSync(sourceFile, 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      // Every known chain runs this version. The metadata hash would change with every comment.
      evmVersion: 'paris',
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { 'TestUsdt.sol': { TestUsdt: ['abi', 'evm.bytecode.object'] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as CompilerOutput;
  if (output.errors?.length) throw new Error(output.errors.map((error) => error.formattedMessage).join('\n'));
  const compiled = output.contracts['TestUsdt.sol']?.TestUsdt;
  if (!compiled) throw new Error('The compiler returned no contract');
  const { abi, evm } = compiled;
  return { compiler: solc.version(), abi, bytecode: `0x${evm.bytecode.object}` };
}

export function readArtifact(): TokenArtifact {
  return JSON.parse(readFileSync(artifactFile, 'utf8')) as TokenArtifact;
}

if (import.meta.main) {
  writeFileSync(artifactFile, `${JSON.stringify(compileToken(), null, 2)}\n`);
  process.stdout.write('Wrote test-usdt.json.\n');
}
