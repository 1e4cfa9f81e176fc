import { Command } from 'commander';
import { advance } from '../chain/advance.ts';
import { resumeNode, stopNode } from '../chain/node.ts';
import { payAs } from '../chain/pay.ts';
import { reorganise } from '../chain/reorg.ts';
import { scenarios, type Scenario } from '../chain/scenarios.ts';
import { inWorld, type World } from '../chain/world.ts';
import { command } from '../stack/command.ts';
import { StackError } from '../stack/directory.ts';

const link = '<payment_url>';

await command(async () => {
  const program = new Command('npm run chain --').description(
    'Does to the local chain what happens on real ones, says what should happen, and checks that it does.',
  );
  const add = (
    name: string,
    words: string,
    about: string,
    run: (world: World, ...words: string[]) => Promise<void>,
  ) => {
    const one = program.command(`${name} ${words}`.trim()).description(about).allowExcessArguments(false);
    one.action(() => inWorld((world) => run(world, ...one.args)));
  };

  for (const [name, scenario] of Object.entries<Scenario>(scenarios)) {
    add(name, link, scenario.about, (world, url = '') => payAs(world, url, scenario));
  }
  add('reorg', '[payment_url]', 'replaces the newest block by an empty one; the payment is paid in it', (world, url) =>
    reorganise(world, url),
  );
  add('stop-node', '', 'freezes the node until resume-node', stopNode);
  add('resume-node', '', 'lets it continue', resumeNode);
  add(
    'advance',
    '<seconds> [payment_url]',
    'moves the end of the payment, or of all that wait, earlier by this much',
    (world, seconds = '', url) => advance(world, wholeSeconds(seconds), url),
  );
  await program.parseAsync();
});

function wholeSeconds(text: string): number {
  if (!/^[1-9][0-9]{0,7}$/.test(text)) throw new StackError(`"${text}" is not a whole number of seconds.`);
  return Number(text);
}
