import { expect, test } from '@jest/globals';
import { compileToken, readArtifact } from '../../src/token/compile.ts';

test('the committed artifact is what the compiler makes of the source (else: node packages/local-backends/src/token/compile.ts)', () => {
  expect(readArtifact()).toEqual(compileToken());
});
