import { expect, test } from '@jest/globals';
import { compileToken, readArtifact } from '../../src/token/compile.ts';

test('the committed artifact is what the compiler makes from the source (else run: node packages/local-backends/src/token/compile.ts)', () => {
  expect(readArtifact()).toEqual(compileToken());
});
