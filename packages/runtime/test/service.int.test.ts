import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from '@jest/globals';

const fixture = fileURLToPath(new URL('./service-fixture.ts', import.meta.url));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Starts the fixture's process. `said(text)` resolves when its output contains `text`, `ended` with its exit. */
function start(env: Record<string, string>) {
  const child = spawn(process.execPath, [fixture], { env: { PATH: process.env.PATH, ...env } });
  children.push(child);
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const listener of listeners) listener();
    });
  }
  return {
    child,
    output: () => output,
    logged: (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => output.includes(text) && resolve();
        listeners.add(look);
        look();
      }),
    ended: once(child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as string | null,
    })),
  };
}

describe('a service process', () => {
  test('a wrong configuration is printed in full and ends the process with 78', async () => {
    const service = start({ LOG_LEVEL: 'loud', MODE: 'unheard-of' });
    expect(await service.ended).toEqual({ code: 78, signal: null });
    expect(service.output()).toContain('fixture cannot start with these settings:');
    expect(service.output()).toContain('LOG_LEVEL: must be one of');
    expect(service.output()).toContain('MODE: must be one of');
  });

  test('SIGTERM closes in reverse order and exits with 0', async () => {
    const service = start({ MODE: 'run' });
    await service.logged('"msg":"started"');
    service.child.kill('SIGTERM');
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(service.output()).toMatch(/closed second[\s\S]*closed first[\s\S]*stopped/);
  });

  test('a second signal exits immediately', async () => {
    const service = start({ MODE: 'stuck' });
    await service.logged('"msg":"started"');
    service.child.kill('SIGINT');
    await service.logged('closing stuck');
    service.child.kill('SIGTERM');
    expect(await service.ended).toEqual({ code: 130, signal: null });
  });

  test.each(['start-fails', 'rejects', 'throws'])(
    '%s: the failure is logged and ends the process with 1',
    async (mode) => {
      const service = start({ MODE: mode });
      expect(await service.ended).toEqual({ code: 1, signal: null });
      expect(service.output()).toContain('"level":"fatal"');
      expect(service.output()).toContain('fixture failure');
    },
  );

  test('an armed fault point kills the process there, without any handler', async () => {
    const service = start({ MODE: 'fault', FAULT_POINT: 'between' });
    expect(await service.ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(service.output()).toContain('before the point');
    expect(service.output()).not.toContain('after the point');
  });

  test('another fault point does nothing', async () => {
    const service = start({ MODE: 'fault', FAULT_POINT: 'elsewhere' });
    await service.logged('after the point');
  });

  test('production refuses a fault point', async () => {
    const service = start({ MODE: 'fault', FAULT_POINT: 'between', NODE_ENV: 'production' });
    expect(await service.ended).toEqual({ code: 78, signal: null });
    expect(service.output()).toContain('FAULT_POINT: must not be set in production');
  });
});
