import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const folder = new URL('../../docs/runbooks/', import.meta.url);
/** Its alerts come from exporters that run with the operators of Kubernetes. */
const pages = readdirSync(folder).filter((name) => name !== 'backends.md');
/** What looks at a service or restarts it. A cluster's own objects have no counterpart on one server. */
const ofServices = /^kubectl -n quittance (logs (?!job)|rollout (undo|restart)|get pods\b(?!.*cnpg)|exec )/;

test.each(pages)('beside each command for Kubernetes in %s is the one for Compose', (name) => {
  const text = readFileSync(new URL(name, folder), 'utf8');
  const alone = [...text.matchAll(/`([^`\n]+)`(.{0,12})/g)].flatMap(([, command = '', after = '']) =>
    ofServices.test(command) && !/^(;| \()? ?Compose: /.test(after) ? [command] : [],
  );
  expect(alone).toEqual([]);
});
