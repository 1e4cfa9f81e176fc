import { writeFileSync } from 'node:fs';
import { dashboards, textOf } from './source.ts';

for (const name of Object.keys(dashboards) as (keyof typeof dashboards)[]) {
  writeFileSync(new URL(name, import.meta.url), textOf(name));
}
