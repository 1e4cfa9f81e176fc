import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dashboard } from '@grafana/schema';
import { expect, test } from '@jest/globals';
import { promtool } from '@quittance/testkit/promtool.ts';
import { dashboards, textOf } from '../../infra/observability/dashboards/source.ts';
import { observability, questionsOfDashboards } from '../support/observability.ts';

/** The compiler holds them to Grafana's own types. */
const typed: Record<string, Dashboard> = dashboards;
const names = Object.keys(dashboards) as (keyof typeof dashboards)[];

test('the files are what their source says; `node infra/observability/dashboards/write.ts` writes them', async () => {
  const folder = new URL('dashboards/', observability);
  expect(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort(),
  ).toEqual([...names].sort());
  for (const name of names) expect(await readFile(new URL(name, folder), 'utf8')).toBe(textOf(name));
});

test.each(names)('%s: panels have names of their own, lie beside each other and ask the chosen Prometheus', (name) => {
  const { panels, uid, id, templating } = typed[name]!;
  expect([uid, id]).toEqual([`quittance-${name.replace('.json', '')}`, undefined]);
  const variables = (templating?.list ?? []).map((variable) => variable.name);
  expect(variables).toContain('datasource');
  const cells = new Set<string>();
  for (const panel of panels as { id: number; title: string; gridPos: Place; targets?: Target[] }[]) {
    const { x, y, w, h } = panel.gridPos;
    expect(x + w).toBeLessThanOrEqual(24);
    for (let column = x; column < x + w; column += 1)
      for (let line = y; line < y + h; line += 1) {
        expect([panel.title, cells.has(`${column} ${line}`)]).toEqual([panel.title, false]);
        cells.add(`${column} ${line}`);
      }
    for (const { expr, datasource } of panel.targets ?? []) {
      expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
      const used = [...expr.matchAll(/\$(\w+)/g)].map(([, variable]) => variable!);
      expect(used.filter((variable) => variable !== '__rate_interval' && !variables.includes(variable))).toEqual([]);
    }
  }
  expect(new Set(panels!.map((panel) => (panel as { id: number }).id)).size).toBe(panels!.length);
});

test('Prometheus understands everything that they ask', async () => {
  const questions = questionsOfDashboards();
  expect(questions.length).toBeGreaterThan(80);
  const rules = questions.map(({ expr }, index) => ({ record: `asked:${index}`, expr }));
  const directory = await mkdtemp(join(tmpdir(), 'quittance-promql-'));
  try {
    // YAML is a superset of JSON.
    const file = join(directory, 'asked.yaml');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'asked', rules }] }));
    await promtool(['check', 'rules', file]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

type Place = { x: number; y: number; w: number; h: number };
type Target = { expr: string; datasource: unknown };
