import { writeFileSync } from 'node:fs';
import { operatorPage } from './document.ts';

writeFileSync(new URL('../../../docs/operator.md', import.meta.url), operatorPage());
