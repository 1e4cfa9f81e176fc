import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parseAllDocuments } from 'yaml';
import { kustomize } from '../../../../infra/kubernetes/packaged-tools.ts';
import type { KubernetesObject } from './objects.ts';

/** The kustomizations under test, each with its folder. */
const overlays = {
  local: 'k8s/overlays/local',
  production: 'k8s/overlays/production',
  external: 'tests/deployment/kubernetes/variants/external',
  'external with a store': 'k8s/overlays/external-store',
  'external with a store and an authority': 'tests/deployment/kubernetes/variants/external-store',
  'production with traces': 'tests/deployment/kubernetes/variants/otlp',
  'production with a private webhook target': 'tests/deployment/kubernetes/variants/private-webhook-targets',
  'production on its way from 0.2.0': 'tests/deployment/kubernetes/variants/internal-token',
  'production of another version': 'tests/deployment/kubernetes/variants/another-version',
  'production with the Gateway API': 'tests/deployment/kubernetes/variants/gateway-api',
  'production with an authority of its own': 'tests/deployment/kubernetes/variants/ca-bundle',
  'production from a private registry': 'tests/deployment/kubernetes/variants/pull-secret',
  'production with notices': 'tests/deployment/kubernetes/variants/notices',
  'production with KEDA': 'tests/deployment/kubernetes/variants/keda',
  'production behind a load balancer': 'tests/deployment/kubernetes/variants/edge-load-balancer',
} as const;

export type Overlay = keyof typeof overlays;

/** Those that have the same rules. The notifier's are in notices.test.ts. */
export const overlayNames = (Object.keys(overlays) as Overlay[]).filter((name) => name !== 'production with notices');

const rendered = new Map<Overlay, Promise<KubernetesObject[]>>();

/** What `kubectl apply --kustomize` would send, as a copy that the caller may change. @throws Error with kustomize's own message. */
export async function render(overlay: Overlay): Promise<KubernetesObject[]> {
  const objects = rendered.get(overlay) ?? build(overlay);
  rendered.set(overlay, objects);
  return structuredClone(await objects);
}

async function build(overlay: Overlay): Promise<KubernetesObject[]> {
  const text = await kustomize(join(repositoryRoot, overlays[overlay]));
  return parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
}
