import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { chartFiles } from './chart/files.ts';
import { generatedFiles, repositoryRoot } from './generated-files.ts';

// `npm run manifests`: run it after a change of the source files. The chart repeats what the first ones write, so it comes last.
write(generatedFiles());
write(await chartFiles());

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(repositoryRoot + path), { recursive: true });
    writeFileSync(repositoryRoot + path, text);
    process.stdout.write(`${path}\n`);
  }
}
