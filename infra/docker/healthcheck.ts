/**
 * Checks the health of this container's services, for engines that have no probes of their own. The images have no curl.
 *
 *   node infra/docker/healthcheck.ts [/livez | /readyz [PORT …]]
 *
 * Exits with 0 if every port answers 200, else with 1. The default port is PROBES_PORT or PORT.
 */
const [path = '/livez', ...given] = process.argv.slice(2);
const ports = given.length > 0 ? given : [process.env['PROBES_PORT'] ?? process.env['PORT'] ?? '8080'];

/** @returns the problem there, or null. */
async function problemAt(port: string): Promise<string | null> {
  const url = `http://127.0.0.1:${port}${path}`;
  // Shorter than Docker's own limit of five seconds, so that the log of the health check shows a reason.
  const answer = await fetch(url, { signal: AbortSignal.timeout(3_000) }).catch((error: unknown) => String(error));
  if (typeof answer !== 'string' && answer.status === 200) return null;
  return `${url}: ${typeof answer === 'string' ? answer : `status ${answer.status}`}\n`;
}

const problems = (await Promise.all(ports.map(problemAt))).filter((problem) => problem !== null);
process.stderr.write(problems.join(''));
process.exit(problems.length === 0 ? 0 : 1);
