import tls from 'node:tls';
import { eventually } from '@quittance/testkit/eventually.ts';
import { createAuthority } from '../../services/webhook-dispatcher/test/certificates.ts';
import { closedNames, outside, ownAddress } from '../../services/webhook-dispatcher/test/closed-names.ts';
import { hostileUrls } from '../../services/webhook-dispatcher/test/hostile-urls.ts';
import { startNameServer, type NameServer, type Zone } from '../../services/webhook-dispatcher/test/name-server.ts';
import { startReceiver, status, type Receiver } from '../../services/webhook-dispatcher/test/receiver.ts';
import { startTrap, type Trap } from '../../services/webhook-dispatcher/test/trap.ts';
import { urlTable } from '../../services/webhook-dispatcher/test/url-table.ts';
import { watchedSender, type Dialled } from '../../services/webhook-dispatcher/test/watched-sender.ts';
import type { Sender } from '../../services/webhook-dispatcher/src/sending/sender.ts';
import type { Attack, Check, Target, Trial } from './attack.ts';

/** The attacker's name server, the targets, and the sender that must not reach them. */
type Scene = {
  zones: Record<string, Zone>;
  nameServer: NameServer;
  trap: Trap;
  receiver: Receiver;
  dialled: Dialled[];
  /** The dispatcher's own sender, in this process: the only public address leads to the receiver. */
  sender: Sender;
};

export const attack: Attack = {
  name: 'webhook-urls',
  about:
    'webhooks to internal addresses: by stored URLs, names that change, redirects; by the sender of the dispatcher with the name server of an attacker',
  async checks(target) {
    const scene = await setScene(target.onEnd);
    return [trapWorks(scene), stored(scene), ...inProcess(scene), nothingReached(scene)];
  },
};

async function setScene(onEnd: Target['onEnd']): Promise<Scene> {
  const authority = await createAuthority();
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.certificate]);
  const zones: Record<string, Zone> = Object.fromEntries(
    Object.entries(closedNames).map(([name, { zone }]) => [name, zone]),
  );
  const [nameServer, receiver, trap] = await Promise.all([
    startNameServer(zones),
    startReceiver(authority),
    startTrap(),
  ]);
  const dialled: Dialled[] = [];
  const sender = watchedSender({ nameServer, receiver, trap, dialled });
  onEnd(async () => {
    nameServer.close();
    await Promise.all([sender.close(), receiver.close(), trap.close()]);
  });
  return { zones, nameServer, trap, receiver, dialled, sender };
}

const send = ({ sender }: Scene, url: string) =>
  sender.send({
    eventId: 'evt_1',
    merchantId: 'mer_1',
    url,
    keyId: 'whk_1',
    secret: 'whsec_1',
    body: Buffer.from('{}'),
  });

/** Without this the checks below would prove nothing. */
const trapWorks = ({ trap }: Scene): Check => ({
  name: 'these checks notice a connection to an internal address',
  async run(trial) {
    const before = trap.hits();
    await fetch(`http://127.0.0.1:${trap.port}/`).catch(() => undefined);
    await eventually(() => {
      if (trap.hits() === before) throw new Error('the trap noticed nothing');
    });
    trial.holds(true, () => '');
  },
});

/** Connections to the trap by `trapWorks`. */
const HITS_OF_OURS = 1;

const stored = (scene: Scene): Check => ({
  name: 'a stored URL that the API would refuse is not dialled, and its name is not resolved',
  async run(trial) {
    for (const url of [...urlTable('reject'), ...hostileUrls]) {
      const dials = scene.dialled.length;
      const { errorCategory } = await send(scene, url);
      trial.holds(
        errorCategory === 'blocked_address' && scene.dialled.length === dials,
        () => `${url} came to ${String(errorCategory)}`,
      );
    }
  },
});

function inProcess(scene: Scene): Check[] {
  const { zones, receiver, dialled } = scene;
  const blocked = async (trial: Trial, name: string, wanted: string) => {
    const dials = dialled.length;
    const { errorCategory } = await send(scene, `https://${name}/`);
    trial.same(name, [errorCategory, dialled.length - dials], [wanted, 0]);
  };
  return [
    {
      name: 'a name that leads to an internal address is not dialled: mixed answers, aliases, mapped and translated addresses, long answers',
      async run(trial) {
        for (const [name, { category }] of Object.entries(closedNames)) await blocked(trial, name, category);
      },
    },
    {
      name: 'a name that changes with every query is only dialled at the address that was checked',
      async run(trial) {
        for (let round = 0; round < 10; round += 1) {
          const name = `flips-${round}.io`;
          let asked = round;
          const flip = (): Zone => ((asked += 1) % 2 === 0 ? { ...outside, ttl: 0 } : { a: [ownAddress], ttl: 0 });
          Object.defineProperty(zones, name, { get: flip, configurable: true });
          const dials = dialled.length;
          await send(scene, `https://${name}/`);
          for (const { address } of dialled.slice(dials)) trial.same(name, address, outside.a[0]);
          trial.holds(asked > round, () => `${name} was not asked for`);
        }
      },
    },
    {
      name: 'a name that becomes internal between two attempts is not dialled again, whatever its TTL',
      async run(trial) {
        for (const ttl of [0, 86_400]) {
          const name = `turns-${ttl}.io`;
          zones[name] = { ...outside, ttl };
          receiver.answer(name, status(200, { connection: 'close' }));
          trial.same(`${name} at first`, (await send(scene, `https://${name}/`)).errorCategory, null);
          zones[name] = { a: [ownAddress], ttl };
          await blocked(trial, name, 'blocked_address');
        }
      },
    },
    {
      name: 'no redirect is followed, to any place, port or scheme',
      async run(trial) {
        const { port } = scene.trap;
        const places = [
          `http://127.0.0.1:${port}/`,
          `https://127.0.0.1:${port}/`,
          `//127.0.0.1:${port}/`,
          'https://inside.io/',
          '/elsewhere',
          'file:///etc/passwd',
          `gopher://127.0.0.1:${port}/`,
        ];
        for (const code of [300, 301, 302, 303, 307, 308]) {
          for (const [index, location] of places.entries()) {
            const name = `redirects-${code}-${index}.io`;
            zones[name] = { ...outside };
            receiver.answer(name, status(code, { location, refresh: `0;url=${location}`, connection: 'close' }));
            const { errorCategory, httpStatus } = await send(scene, `https://${name}/`);
            trial.same(
              `${code} to ${location}`,
              [errorCategory, httpStatus, receiver.received(name).length],
              ['redirect', code, 1],
            );
          }
        }
      },
    },
    {
      name: 'a certificate for another name, self-signed, or expired is refused',
      async run(trial) {
        for (const name of ['wrong.certificate.io', 'self-signed.certificate.io', 'expired.certificate.io']) {
          zones[name] = { ...outside };
          const { errorCategory } = await send(scene, `https://${name}/`);
          trial.same(name, [errorCategory, receiver.received(name).length], ['tls_error', 0]);
        }
      },
    },
  ];
}

const nothingReached = ({ trap, dialled }: Scene): Check => ({
  name: 'none of this connected to anything on this machine',
  async run(trial) {
    trial.same('connections to the trap', trap.hits(), HITS_OF_OURS);
    const private_ = dialled.filter(({ address }) => address !== outside.a[0]);
    trial.same('addresses dialled', private_, []);
  },
});
