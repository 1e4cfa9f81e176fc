import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { composeProject, docker, type Project } from './compose.ts';

/**
 * The trial of Docker Compose on the engine that answers here: our images built by their Dockerfile, payments paid, every container
 * killed and back, an upgrade and the way back from it. Everything that is made is removed, but for images.
 */
const nextVersion = '99.0.0';
const killed = [...serviceNames, 'edge', 'receiver', 'rabbitmq', 'postgres'];
const files = ['docker-compose.yml', 'docker-compose.trial.yml'];

const folder = await mkdtemp(join(tmpdir(), 'quittance-engine-'));
const started = performance.now();
const say = (line: string): void =>
  console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${line}`);

say(
  `engine  ${(await docker('version', '--format', '{{.Server.Version}}')).trim()}, ${(await docker('compose', 'version')).trim()}`,
);
const digest = await imagesOfOthers();
const project = composeProject(folder, [...files, ...(digest === null ? ['tests/engine/stand-ins/compose.yml'] : [])]);
try {
  await carryOut(project);
} finally {
  await project.compose('down', '--volumes', '--timeout', '5');
  await rm(folder, { recursive: true });
}

async function carryOut({ compose, set, up, killed: kill, containers }: Project): Promise<void> {
  const [edge, receiver] = await freePorts(2);
  const version = (JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as { version: string })
    .version;
  const build = ['build', '--quiet', ...(digest === null ? ['--build-arg', 'NODE_DIGEST='] : [])];
  await set({ EDGE_PUBLISH: `127.0.0.1:${edge}`, TRIAL_PUBLISH: `127.0.0.1:${receiver}`, QUITTANCE_VERSION: version });
  await compose(...build);
  say(`images  of ${version} are built`);
  await up();
  say(`up      ${(await containers()).filter(({ health }) => health === 'healthy').length} containers are healthy`);
  const first = await paid(compose);
  say(`paid    ${first}`);

  for (const service of killed) {
    await kill(service);
    say(`killed  ${service}, which is back and healthy`);
  }
  say(`paid    ${await paid(compose)}`);

  for (const [to, what] of [
    [nextVersion, 'upgrade'],
    [version, 'back   '],
  ] as const) {
    await set({ QUITTANCE_VERSION: to });
    await compose(...build);
    await up();
    await compose('restart', 'edge');
    await up();
    const ours = (await containers()).filter(({ image }) => image.startsWith('quittance/'));
    const others = ours.filter(({ image }) => !image.endsWith(`:${to}`));
    if (ours.length < serviceNames.length || others.length > 0)
      throw new Error(`after the change to ${to} there run ${others.map(({ image }) => image).join(', ')}`);
    say(`${what} to ${to}: ${ours.length} containers run it; ${await paid(compose)}`);
    if (!(await compose('run', '--rm', '-T', 'ops', 'payment', 'show', first, '--json')).includes('"PAID"'))
      throw new Error(`${first} is not PAID any more`);
  }
}

/** The trial's demo. @returns the first of its payments. @throws Error with all that it said. */
async function paid(compose: Project['compose']): Promise<string> {
  const said = await compose('run', '--rm', '-T', 'trial');
  const [, payment] = /^created +(pay_\w+)/m.exec(said) ?? [];
  if (payment === undefined || !said.includes('5 payments are PAID, and their webhooks verified'))
    throw new Error(said);
  return payment;
}

/** @returns the digest of our base where a registry has it; null where stand-ins are made, because none does. */
async function imagesOfOthers(): Promise<string | null> {
  const dockerfile = readFileSync(join(repositoryRoot, 'infra/docker/Dockerfile'), 'utf8');
  const [, version = '', base = ''] = /^ARG NODE_VERSION=(.*)\nARG NODE_DIGEST=(.*)$/m.exec(dockerfile) ?? [];
  const isThere = await docker('pull', '--quiet', `node:${version}-trixie-slim${base}`).then(
    () => true,
    () => false,
  );
  if (isThere) return base;
  say('images  of others cannot be pulled; stand-ins are made of packages');
  const [, foundry = ''] =
    /foundry:v([\d.]+)@/.exec(readFileSync(join(repositoryRoot, 'docker-compose.yml'), 'utf8')) ?? [];
  execFileSync('sh', [join(import.meta.dirname, 'stand-ins', 'make.sh'), version, foundry], { stdio: 'inherit' });
  return null;
}
