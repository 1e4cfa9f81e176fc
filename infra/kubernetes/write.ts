import { writeFileSync } from 'node:fs';

import { generatedFiles, repositoryRoot } from './generated-files.ts';

// `npm run manifests`: after a change of what they are made from.
for (const [path, text] of Object.entries(generatedFiles())) {
  writeFileSync(repositoryRoot + path, text);
  process.stdout.write(`${path}\n`);
}
