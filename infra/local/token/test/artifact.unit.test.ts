import { expect, test } from '@jest/globals';
import { compileToken, readArtifact } from '../compile.ts';

test('the committed artifact is what the compiler makes of the source (else: node infra/local/token/compile.ts)', () => {
  expect(readArtifact()).toEqual(compileToken());
}, 60_000);
