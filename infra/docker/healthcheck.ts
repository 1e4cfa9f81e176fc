/**
 * Asks the services of this container how they are, for engines without probes of their own; the images have no curl.
 *
 *   node infra/docker/healthcheck.ts [/livez | /readyz [PORT …]]
 *
 * Exit code 0 when the answer of every port is 200, 1 otherwise. Without a port it is the one that PROBES_PORT or PORT names.
 */
const [path = '/livez', ...given] = process.argv.slice(2);
const ports = given.length > 0 ? given : [process.env['PROBES_PORT'] ?? process.env['PORT'] ?? '8080'];

/** @returns what is wrong there, null when nothing is. */
async function problemAt(port: string): Promise<string | null> {
  const url = `http://127.0.0.1:${port}${path}`;
  // Below the five seconds after which Docker gives up by itself, so that the log of the health check has a reason.
  const answer = await fetch(url, { signal: AbortSignal.timeout(3_000) }).catch((error: unknown) => String(error));
  if (typeof answer !== 'string' && answer.status === 200) return null;
  return `${url}: ${typeof answer === 'string' ? answer : `status ${answer.status}`}\n`;
}

const problems = (await Promise.all(ports.map(problemAt))).filter((problem) => problem !== null);
process.stderr.write(problems.join(''));
process.exit(problems.length === 0 ? 0 : 1);
