import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { serviceSchemas } from '@quittance/postgres/roles/service-databases.ts';
import { renderNginx } from '../nginx/render.ts';

/** Absolute path with a slash at the end. */
export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));

const production = 'k8s/overlays/production';
const alerts = 'infra/observability/alerts';
const dashboards = 'infra/observability/dashboards';

/**
 * Files below k8s/ that repeat the content of other files of the repository, because kustomize reads nothing outside its folder and cannot
 * convert formats. `npm run manifests` writes them, and a test checks that they are up to date.
 * @returns text by path from the root of the repository.
 */
export function generatedFiles(): Record<string, string> {
  return {
    'k8s/base/networks.json': text('infra/networks.json'),
    'k8s/base/edge/nginx.conf': edgeConfiguration([]),
    'k8s/components/schemas/schemas.sql': schemas(),
    'k8s/components/monitoring/rules.yaml': prometheusRules(),
    ...dashboardFiles(),
    [`${production}/settings/networks.json`]: networks(JSON.parse(text(`${production}/settings/rpc-urls.json`))),
    [`${production}/edge/nginx.conf`]: edgeConfiguration(lines(text(`${production}/edge/trusted-proxies.txt`))),
  };
}

/**
 * The Service's address is listed once for each try: nginx tries a server only once, and every connection to a Service may reach another
 * pod. So a request survives the loss of a gateway pod and its node.
 */
export function edgeConfiguration(trustedProxies: string[]): string {
  const gateway = Array.from({ length: 3 }, () => 'api-gateway:8080');
  return renderNginx({ directory: '/run/quittance', edge: { listen: '8080', gateway, trustedProxies } });
}

/**
 * packages/postgres/src/roles/service.sql once for each service. The passwords are random until the operator's tool for roles sets others.
 */
function schemas(): string {
  const statement = text('packages/postgres/src/roles/service.sql');
  const parts = Object.values(serviceSchemas).map(({ schema, role }) =>
    [
      `set quittance.service_schema = '${schema}';`,
      `set quittance.service_role = '${role}';`,
      // psql would print what a select returns.
      `do $$ begin perform set_config('quittance.service_password', gen_random_uuid()::text || gen_random_uuid()::text, false); end $$;`,
      statement,
    ].join('\n'),
  );
  return `-- Written by npm run manifests, from packages/postgres/src/roles/service.sql.\n${parts.join('\n')}`;
}

/** infra/networks.json with a deployment's endpoints. A network without endpoints stays disabled. */
function networks(endpoints: unknown): string {
  const urls = new Map(Object.entries(endpoints as Record<string, unknown[]>));
  const shipped = JSON.parse(text('infra/networks.json')) as { id: string; rpc_urls: unknown[] }[];
  const stranger = [...urls.keys()].find((id) => !shipped.some((network) => network.id === id));
  if (stranger !== undefined)
    throw new Error(`rpc-urls.json names ${stranger}, which infra/networks.json does not have`);
  const filled = shipped.map((network) => ({ ...network, rpc_urls: urls.get(network.id) ?? [] }));
  return `${JSON.stringify(filled, null, 2)}\n`;
}

/** One object for each rule file, with the file's text as its `spec`. */
function prometheusRules(): string {
  const names = readdirSync(repositoryRoot + alerts).filter((name) => name.endsWith('.rules.yaml'));
  const objects = names.sort().map((name) => {
    const spec = text(`${alerts}/${name}`).replace(/^(?=.)/gm, '  ');
    const metadata = `metadata:\n  name: quittance-${name.replace('.rules.yaml', '')}\n`;
    return `apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\n${metadata}spec:\n${spec}`;
  });
  return `# Written by npm run manifests, from ${alerts}.\n${objects.join('---\n')}`;
}

/** Without indentation, which is half of a dashboard's text. */
function dashboardFiles(): Record<string, string> {
  const names = readdirSync(repositoryRoot + dashboards).filter((name) => name.endsWith('.json'));
  const compact = (name: string) => `${JSON.stringify(JSON.parse(text(`${dashboards}/${name}`)))}\n`;
  return Object.fromEntries(names.map((name) => [`k8s/components/dashboards/${name}`, compact(name)]));
}

/** The lines without comments and empty lines. */
function lines(list: string): string[] {
  return list.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function text(path: string): string {
  return readFileSync(repositoryRoot + path, 'utf8');
}
