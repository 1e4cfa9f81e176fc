import { writeFileSync } from 'node:fs';
import { asyncapiYaml } from './document.ts';

writeFileSync(new URL('../../../docs/asyncapi.yaml', import.meta.url), asyncapiYaml());
