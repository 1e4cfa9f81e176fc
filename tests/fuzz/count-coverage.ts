import inspector from 'node:inspector';
import { createServer } from 'node:net';
import { join } from 'node:path';

// Loaded into the processes under test by NODE_OPTIONS. Whoever connects is told which functions and branches ran since the last time.
// Branches are counted only in functions that are compiled while somebody counts, so this begins before any of ours is loaded.
const session = new inspector.Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

const { FUZZ_COVERAGE: directory = '', FUZZ_COVERED: ours = '' } = process.env;
const covered = new RegExp(ours);

const server = createServer((socket) => {
  session.post('Profiler.takePreciseCoverage', (_error, taken) => {
    socket.on('error', () => undefined);
    socket.end(JSON.stringify(taken.result.filter(({ url }) => covered.test(url))));
  });
});
// The process ends as it would without this.
server.listen(join(directory, String(process.pid)), () => server.unref());
server.unref();
