/** Runs the command line once for each message, without the start of a process, which costs many times what a command does. */

type Command = { words: string[]; env: NodeJS.ProcessEnv };

let runs = 0;
// Each run of main.ts listens for errors of the standard output once.
process.stdout.setMaxListeners(0);
process.on('disconnect', () => process.exit());
process.on('message', (command: Command) => void run(command).then((result) => process.send?.(result)));

async function run({ words, env }: Command) {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (chunk: string | Uint8Array) => {
      output[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return true;
    };
  }
  process.argv.splice(2, Infinity, ...words);
  process.env = env;
  process.exitCode = 0;
  // The query makes it another module: its imports stay, and main.ts itself runs again.
  await import(`../src/main.ts?run=${(runs += 1)}`).catch((error: unknown) => {
    process.stderr.write(String(error instanceof Error ? error.stack : error));
    process.exitCode = 1;
  });
  return { code: process.exitCode, ...output };
}
