import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

/** The types of docs/openapi.yaml, the content of `src/openapi.ts`. */
export async function openapiTypes(): Promise<string> {
  const nodes = await openapiTS(new URL('../../docs/openapi.yaml', import.meta.url), {
    alphabetize: true,
    // The server applies defaults, so callers may leave these fields out.
    defaultNonNullable: false,
  });
  return `/** Made from docs/openapi.yaml by \`npm run sdk\`. */\n\n${astToString(nodes)}`;
}

if (import.meta.main) {
  const [file, types] = [join(import.meta.dirname, 'src', 'openapi.ts'), await openapiTypes()];
  // An up-to-date file is not rewritten, because others may be reading it.
  if ((await readFile(file, 'utf8')) !== types) await writeFile(file, types);
}
