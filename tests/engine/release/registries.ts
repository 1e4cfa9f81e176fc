import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '@quittance/local-backends/ports.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { patience } from '../docker.ts';
import type { PartContext } from '../part.ts';

/** Registries on this machine. */
export type Registries = {
  /** `host:port` of the one for images and charts, without TLS. */
  images: string;
  /** npm's settings with which it publishes to, and installs from, its registry here and no other. */
  npmSettings: string;
};

/** Starts both, empty, with their data in the folder, until the part ends. */
export async function startRegistries(folder: string, onEnd: PartContext['onEnd']): Promise<Registries> {
  const [imagePort = 0, npmPort = 0] = await freePorts(2);
  const images = `127.0.0.1:${imagePort}`;
  const imageConfig = {
    version: '0.1',
    log: { accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(folder, 'images') } },
    http: { addr: images },
  };
  const packages = `http://127.0.0.1:${npmPort}/`;
  const npmConfig = {
    storage: join(folder, 'packages'),
    // Without a registry behind it: what is installed from it was published to it.
    uplinks: {},
    packages: { '**': { access: '$all', publish: '$all' } },
  };
  const npmSettings = join(folder, 'npmrc');
  // npm sends nothing without a token; this registry accepts any.
  await writeFile(npmSettings, `registry=${packages}\n${packages.replace('http:', '')}:_authToken=rehearsal\n`);
  // JSON is YAML.
  await writeFile(join(folder, 'images.yml'), JSON.stringify(imageConfig));
  await writeFile(join(folder, 'packages.yml'), JSON.stringify(npmConfig));
  // A registry calls each question for a layer that it lacks an error.
  const log = openSync(join(folder, 'registries.log'), 'a');
  onEnd(async () => closeSync(log));
  const verdaccio = ['--config', join(folder, 'packages.yml'), '--listen', packages];
  const started = [
    spawn('docker-registry', ['serve', join(folder, 'images.yml')], { stdio: ['ignore', log, log] }),
    spawn('verdaccio', verdaccio, { stdio: ['ignore', log, log] }),
  ];
  for (const child of started) onEnd(() => ended(child));
  await eventually(() => requireAnswer(`http://${images}/v2/`), patience);
  await eventually(() => requireAnswer(`${packages}-/ping`), patience);
  return { images, npmSettings };
}

async function requireAnswer(url: string): Promise<void> {
  const { status } = await fetch(url);
  if (status !== 200) throw new Error(`${url} answers ${status}`);
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.kill();
  });
}
