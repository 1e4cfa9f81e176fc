import { engineAnswers } from './container.ts';
import { canUnpack } from './debian-packages.ts';
import { installedNginx } from './nginx-program.ts';
import { installedRabbitmq } from './rabbitmq-programs.ts';

export type Program = 'rabbitmq-server' | 'nginx';

/** Where a program comes from: it is installed, unpacked from Debian's packages, or run in a container. */
type Source = 'machine' | 'packages' | 'engine';

const installed: Record<Program, () => unknown> = { 'rabbitmq-server': installedRabbitmq, nginx: installedNginx };

/** @returns null when this machine can't get the program in any of these ways. */
export async function sourceOf(program: Program, toolsDirectory: string): Promise<Source | null> {
  if (installed[program]() !== undefined) return 'machine';
  if (await canUnpack(toolsDirectory, program)) return 'packages';
  return runsInContainers(program) && (await engineAnswers()) ? 'engine' : null;
}

/** nginx connects to processes of the machine. Containers can share the machine's network only on Linux. */
const runsInContainers = (program: Program): boolean => program !== 'nginx' || process.platform === 'linux';

/** @throws Error that lists everything that is missing and what can be done, before anything is started. */
export async function requirePrograms(programs: readonly Program[], toolsDirectory: string): Promise<void> {
  const sources = await Promise.all(programs.map((program) => sourceOf(program, toolsDirectory)));
  const missing = programs.filter((_, position) => sources[position] === null);
  if (missing.length === 0) return;
  const named = missing.join(' and ');
  const brew = missing.map((program) => program.replace('-server', '')).join(' ');
  throw new Error(
    [
      `This machine has no ${named}, and it is not a Debian or Ubuntu, from whose packages the stack takes them. Do one of these:`,
      `  - install ${named}: \`brew install ${brew}\` on macOS, \`dnf install ${missing.join(' ')}\` on Fedora`,
      ...(missing.every(runsInContainers)
        ? ['  - start Docker, in which the stack runs them then: `docker version` has to show a server']
        : []),
      ...(missing.includes('rabbitmq-server') ? ['  - name a RabbitMQ of your own in AMQP_URL'] : []),
    ].join('\n'),
  );
}
