import { beforeAll, describe, expect, test } from '@jest/globals';
import { ofKind, type KubernetesObject } from './support/objects.ts';
import { render, type Overlay } from './support/render.ts';

const WAVE = 'argocd.argoproj.io/sync-wave';

const waveOf = ({ metadata: { annotations } }: KubernetesObject): number => Number(annotations?.[WAVE] ?? 0);

describe.each<Overlay>(['production', 'external', 'external with a store'])('Argo CD and Flux with %s', (overlay) => {
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await render(overlay);
  });

  test('run migrations before new pods, and after everything that migrations need', () => {
    const jobs = ofKind(objects, 'Job');
    expect(jobs.map(waveOf)).toEqual(jobs.map(() => 1));
    // Argo CD waits until a wave is healthy. These are healthy only when the services run.
    const last = ofKind(objects, 'Deployment', 'CronJob', 'HorizontalPodAutoscaler', 'Ingress');
    expect(last.map(waveOf)).toEqual(last.map(() => 2));
    const others = objects.filter((object) => !jobs.includes(object) && !last.includes(object));
    expect(others.filter((object) => waveOf(object) !== 0)).toEqual([]);
  });

  test('create no Job again because it has ended', () => {
    for (const { metadata, spec } of ofKind(objects, 'Job')) {
      // Kubernetes would delete it, and Flux would create it again: every day.
      expect(spec).not.toHaveProperty('ttlSecondsAfterFinished');
      expect(metadata.annotations).toMatchObject({
        // What is missing of a hook is no difference, so that only a new sync creates it again.
        'argocd.argoproj.io/hook': 'Sync',
        'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
        'kustomize.toolkit.fluxcd.io/force': 'enabled',
      });
    }
  });
});
