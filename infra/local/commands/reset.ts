import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { command } from '../stack/command.ts';
import { stackDirectory } from '../stack/directory.ts';
import { stopRunningStack } from '../stack/running.ts';

await command(async () => {
  new Command('npm run reset').description('Stops the local stack and deletes all of its data.').parse();
  const directory = stackDirectory();
  if (await stopRunningStack(directory)) console.log('The local stack has stopped.');
  const names = await readdir(directory.root).catch(() => []);
  for (const name of names) {
    const path = join(directory.root, name);
    // Unpacked programs hold no data, and downloading them again takes time.
    if (path !== directory.tools) await rm(path, { recursive: true, force: true });
  }
  console.log('All local data is deleted. `npm start` starts with an empty stack.');
});
