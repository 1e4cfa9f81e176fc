import { writeFileSync } from 'node:fs';

import { generatedFiles, repositoryRoot } from './generated-files.ts';

// `npm run manifests`: run it after a change of the source files.
for (const [path, text] of Object.entries(generatedFiles())) {
  writeFileSync(repositoryRoot + path, text);
  process.stdout.write(`${path}\n`);
}
