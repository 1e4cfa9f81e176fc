import { describe, expect, test } from '@jest/globals';
import { readConfig, serviceSettings } from '../../../packages/ops/src/config.ts';
import { environmentIn, environmentOf } from './support/environment.ts';
import { ofKind, podOf, podsOf, selects, specOf, type CronJobSpec, type WorkloadSpec } from './support/objects.ts';
import { overlayNames, render } from './support/render.ts';

describe.each(overlayNames)('the check of %s', (overlay) => {
  const checkIn = (objects: Awaited<ReturnType<typeof render>>) =>
    podsOf(objects).find(({ kind, name }) => kind === 'CronJob' && name === 'check')!;

  test('runs every six hours, one at a time, once', async () => {
    const objects = await render(overlay);
    expect(ofKind(objects, 'CronJob').map(({ metadata }) => metadata.name)).toEqual(['check']);
    const { schedule, concurrencyPolicy, jobTemplate } = specOf<CronJobSpec>(objects, 'CronJob', 'check');
    expect([schedule, concurrencyPolicy, jobTemplate.spec.backoffLimit]).toEqual(['17 */6 * * *', 'Forbid', 0]);
    const [container] = checkIn(objects).containers;
    expect(container!.command).toEqual(['ops', 'check', '--report']);
    // The command line of the version that runs.
    expect(container!.image).toBe(podOf(objects, 'operator').containers[0]!.image);
  });

  test('has the URL of every service and the key of ops, and nothing else', async () => {
    const objects = await render(overlay);
    const env = environmentIn(objects, checkIn(objects).containers[0]!);
    const { urls, signingKey } = readConfig(env, '/nonexistent');
    expect(Object.values(urls)).not.toContain('');
    expect(signingKey).not.toBe('');
    expect(Object.keys(env).sort()).toEqual([...Object.values(serviceSettings), 'SIGNING_KEY'].sort());
    expect(environmentOf(objects, 'operator')).toMatchObject(env);
  });

  test("is not a pod of a Deployment, so that `kubectl exec deploy/operator` is the operator's own", async () => {
    const objects = await render(overlay);
    const { labels } = checkIn(objects);
    const owners = ofKind(objects, 'Deployment').filter(({ spec }) => selects((spec as WorkloadSpec).selector, labels));
    expect(owners).toEqual([]);
  });
});
