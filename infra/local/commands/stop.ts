import { Command } from 'commander';
import { stackDirectory } from '../stack/directory.ts';
import { command } from '../stack/command.ts';
import { stopRunningStack } from '../stack/running.ts';

await command(async () => {
  new Command('npm stop').description('Stops the local stack that was started with --detach.').parse();
  const stopped = await stopRunningStack(stackDirectory());
  console.log(
    stopped
      ? 'The local stack has stopped. Its data is kept; `npm start` continues with it.'
      : 'The local stack is not running.',
  );
});
