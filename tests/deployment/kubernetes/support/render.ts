import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parseAllDocuments } from 'yaml';
import { kubectlProgram } from './kubectl.ts';
import type { KubernetesObject } from './objects.ts';

/** The kustomizations under test, each with its folder. */
const overlays = {
  local: 'k8s/overlays/local',
  production: 'k8s/overlays/production',
  external: 'tests/deployment/kubernetes/variants/external',
  'production with traces': 'tests/deployment/kubernetes/variants/otlp',
  'production with a private webhook target': 'tests/deployment/kubernetes/variants/private-webhook-targets',
  'production on its way from 0.2.0': 'tests/deployment/kubernetes/variants/internal-token',
  'production of another version': 'tests/deployment/kubernetes/variants/another-version',
  'production behind a load balancer': 'tests/deployment/kubernetes/variants/edge-load-balancer',
} as const;

export type Overlay = keyof typeof overlays;

export const overlayNames = Object.keys(overlays) as Overlay[];

const rendered = new Map<Overlay, Promise<string>>();

/** What `kubectl apply --kustomize` would send, as a copy that the caller may change. @throws Error with kustomize's own message. */
export async function render(overlay: Overlay): Promise<KubernetesObject[]> {
  const text = rendered.get(overlay) ?? kustomize(overlay);
  rendered.set(overlay, text);
  return parseAllDocuments(await text).map((document) => document.toJS() as KubernetesObject);
}

async function kustomize(overlay: Overlay): Promise<string> {
  const folder = join(repositoryRoot, overlays[overlay]);
  const { stdout, stderr } = await promisify(execFile)(await kubectlProgram(), ['kustomize', folder], {
    maxBuffer: 10_000_000,
    // Nothing of the user who runs the tests: neither settings nor clusters.
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
  });
  if (stderr !== '') throw new Error(`kustomize warns: ${stderr}`);
  return stdout;
}
