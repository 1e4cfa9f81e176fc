/**
 * Every npm command starts here. It runs on Node 20 or newer with nothing installed, so it uses only Node's own modules. It installs
 * dependencies (including Node 24) with the pinned pnpm when they are missing or out of date, generates the Prisma clients, and runs the
 * command with Node 24.
 */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const node24 = join(root, 'node_modules', '.bin', 'node');
const stamp = join(root, 'node_modules', '.quittance-installed');

const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', bin('jest/bin/jest.js')];
const tests = step('tests', jestOf('unit', 'int', 'system'));
const longTests = jestOf('long-int', 'long-system');
const lint = step('lint and types', [bin('oxlint/bin/oxlint'), '--deny-warnings']);
const cruiser = bin('dependency-cruiser/bin/dependency-cruiser.mjs');
const walls = step('walls', [cruiser, 'packages', 'services', 'infra/local']);

/** Only the rules of the interface document; the others set the optional fields of a creation themselves. */
const WITHOUT_EXTENSIONS = '^((?!extensions[.]).)*$';

/**
 * What each command runs with Node 24, one step after the other. Steps in a nested list run at the same time. Arguments from the command
 * line go to the last step.
 */
const commands = {
  start: script('infra/local/commands/start.ts'),
  stop: script('infra/local/commands/stop.ts'),
  reset: script('infra/local/commands/reset.ts'),
  pay: script('infra/local/commands/pay.ts'),
  chain: script('infra/local/commands/chain.ts'),
  listen: script('infra/local/commands/listen.ts'),
  shop: script('infra/local/commands/shop.ts'),
  rehearse: script('packages/sdk/src/rehearse/main.ts'),
  ops: script('packages/ops/src/main.ts'),
  init: [step('init', ['infra/docker/setup/main.ts', 'init'])],
  asyncapi: script('packages/messaging/asyncapi/write.ts'),
  manifests: script('infra/kubernetes/write.ts'),
  openapi: script('packages/contracts/openapi.ts'),
  'operator-docs': script('packages/operator/docs/write.ts'),
  sdk: [...script('packages/sdk/write-types.ts'), ...script('infra/release/packages.ts')],
  release: script('infra/release/set-version.ts'),
  test: [tests],
  'test:long': [step('long tests', longTests)],
  'test:rabbitmq4': script('infra/local/commands/test-rabbitmq4.ts'),
  bench: script('tests/benchmarks/main.ts'),
  faults: script('tests/faults/main.ts'),
  attacks: script('tests/attacks/main.ts'),
  mutants: script('tests/mutants/main.ts'),
  screenshots: script('tests/browser/screenshots.ts'),
  lint: [walls, lint],
  format: [step('format', [bin('oxfmt/bin/oxfmt')])],
  check: [
    [
      lint,
      step('format', [bin('oxfmt/bin/oxfmt'), '--list-different']),
      walls,
      step('unused code', [bin('knip/bin/knip.js'), '--no-config-hints']),
    ],
    tests,
  ],
  // What takes too long for every change: long tests, random tests with many runs from a new seed, all attacks, mutants and
  // faults.
  nightly: [
    step('long tests', longTests, { TEST_LENGTH: 'long' }),
    step('random tests', [...jest, ...randomTests()], { TEST_LENGTH: 'long' }),
    step('contract, with optional fields', [...jest, 'tests/conformance/conformance', '-t', WITHOUT_EXTENSIONS], {
      TEST_EXTENSIONS: 'present',
    }),
    step('attacks', ['tests/attacks/main.ts']),
    step('mutants', ['tests/mutants/main.ts']),
    step('faults', ['tests/faults/main.ts']),
  ],
};
/** Commands that run all their steps even if one fails. */
const goesOn = ['nightly'];

await main(process.argv[2], process.argv.slice(3));

async function main(command, words) {
  refuseOldNode();
  const steps = commands[command];
  if (steps === undefined) fail(`unknown command "${command ?? ''}"; there are: ${Object.keys(commands).join(', ')}`);
  if (command === 'stop' || command === 'reset') leaveIfNothingInstalled(command);
  else await install();
  const startedAt = Date.now();
  const done = [];
  for (const [position, together] of steps.entries()) {
    const isLast = position === steps.length - 1;
    done.push(...(await Promise.all([together].flat().map((one) => timed(one, isLast ? words : [])))));
    if (done.some(({ code }) => code !== 0) && !goesOn.includes(command)) break;
  }
  if (steps.length > 1) reportDurations(command, done, Date.now() - startedAt);
  process.exit(done.find(({ code }) => code !== 0)?.code ?? 0);
}

async function timed({ name, args, env }, words) {
  const startedAt = Date.now();
  const code = await run([...args, ...words], env);
  return { name, code, ms: Date.now() - startedAt };
}

function step(name, args, env = {}) {
  return { name, args, env };
}

/** The last option ends jest's list of projects, so that a path that follows it is read as a path. */
function jestOf(...projects) {
  return [...jest, '--selectProjects', ...projects, '--passWithNoTests=false'];
}

function script(path) {
  return [step(path, [path])];
}

/** Random tests that run for each change; `nightly` runs them longer. */
function randomTests() {
  const random = ['lists', 'settlement-batches', 'payment-batches', 'any-answers', 'any-frames', 'any-bytes'];
  return [...random.map((name) => `/${name}.int`), 'tests/conformance/conformance'];
}

function reportDurations(command, done, totalMs) {
  const line = (ms, text) => console.log(`  ${(ms / 1000).toFixed(0).padStart(5)}  ${text}`);
  console.log(`\n${command}, seconds of each step:`);
  for (const { name, code, ms } of done) line(ms, name + (code === 0 ? '' : ` (failed, exit code ${code})`));
  line(totalMs, 'in all');
}

function refuseOldNode() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20)
    fail(`Node ${process.versions.node} is too old: Node 20 or newer is needed (Node 24 is then installed locally).`);
}

function leaveIfNothingInstalled(command) {
  if (existsSync(node24)) return;
  console.log(`Nothing to ${command}: nothing has been started here.`);
  process.exit(0);
}

/** Installs and generates, unless the last run did so with the same files. */
async function install() {
  const wanted = fingerprint();
  if (existsSync(stamp) && existsSync(node24) && readFileSync(stamp, 'utf8') === wanted) return;
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // The hash after the version is for Corepack: npx does not read it.
  const pnpm = packageManager.split('+')[0];
  const started = Date.now();
  console.error(`Installing dependencies with ${pnpm} (a minute or so the first time) …`);
  // npm passes settings to its children that pnpm would warn about. pnpm reads its own configuration files.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_config_(?!registry|cache)/i.test(name)),
  );
  const options = { cwd: root, env: { ...env, CI: 'true' }, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' };
  const result = spawnSync('npx', ['-y', pnpm, 'install', '--frozen-lockfile'], options);
  if (result.error) fail(`npx could not be started (${result.error.message}); npm must be installed with Node.`);
  if (result.status !== 0) fail(`installing dependencies failed:\n${result.stdout}${result.stderr}`);
  await Promise.all(prismaServices().map(generate));
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
  console.error(`Dependencies are installed (${((Date.now() - started) / 1000).toFixed(0)} s).`);
}

/** Prisma's generator needs no engine. Naming this Node as the engine prevents a download. */
async function generate(service) {
  const prisma = join(service, 'node_modules', 'prisma', 'build', 'index.js');
  const env = {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: node24,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  };
  await promisify(execFile)(node24, [prisma, 'generate'], { cwd: service, env }).catch(({ message, stdout, stderr }) =>
    fail(`prisma generate failed in ${service}: ${message}\n${stdout}${stderr}`),
  );
}

function prismaServices() {
  const services = join(root, 'services');
  return readdirSync(services)
    .map((name) => join(services, name))
    .filter((service) => existsSync(join(service, 'prisma', 'schema.prisma')));
}

function fingerprint() {
  const hash = createHash('sha256');
  const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((name) => join(root, name));
  for (const service of prismaServices()) files.push(join(service, 'prisma', 'schema.prisma'));
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex');
}

/** Runs one step and forwards signals. The step decides how it ends. */
function run(words, env) {
  const child = spawn(node24, words, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
  // Ctrl-C reaches the whole foreground group, including the child. Only a signal sent to this process alone has to be forwarded.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGTERM'));
  return new Promise((resolve) => {
    child.on('error', (error) => fail(`Node 24 could not be started: ${error.message}`));
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 1)));
  });
}

function bin(path) {
  return join(root, 'node_modules', path);
}

function fail(message) {
  console.error(`quittance: ${message}`);
  process.exit(1);
}
