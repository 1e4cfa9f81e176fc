/**
 * Asks the service of this container how it is, for engines without probes of their own; the images have no curl.
 *
 *   node infra/docker/healthcheck.ts [/livez | /readyz]
 *
 * Exit code 0 when the answer is 200, 1 otherwise.
 */
const path = process.argv[2] ?? '/livez';
const url = `http://127.0.0.1:${process.env['PORT'] ?? '8080'}${path}`;
// Below the five seconds after which Docker gives up by itself, so that the log of the health check has a reason.
const answer = await fetch(url, { signal: AbortSignal.timeout(3_000) }).catch((error: unknown) => String(error));
const isHealthy = typeof answer !== 'string' && answer.status === 200;
if (!isHealthy) process.stderr.write(`${url}: ${typeof answer === 'string' ? answer : `status ${answer.status}`}\n`);
process.exit(isHealthy ? 0 : 1);
