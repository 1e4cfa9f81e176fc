import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

type Records = {
  a?: string[];
  aaaa?: string[];
  /** The chain of aliases of the name; the addresses are those of the last one. */
  cname?: string | string[];
  ttl?: number;
  /** The answer does not fit into UDP, and says so: the resolver has to ask again over TCP. */
  truncated?: boolean;
  /** Never answers queries of this type. */
  silentFor?: 'a' | 'aaaa';
  /** Answers this type later than the other one, by 100 ms or `lateMs`. */
  lateFor?: 'a' | 'aaaa';
  lateMs?: number;
  /** Only answers repeated queries. */
  losesFirst?: boolean;
  /** Only answers the first query. */
  losesRepeated?: boolean;
};

/** A name server's answer: addresses, a DNS error, or nothing. */
export type Zone = Records | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'silence';

const codes = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 };
const types = { a: 1, cname: 5, aaaa: 28 };

const LATE_MS = 100;

export type NameServer = {
  /** `127.0.0.1:port`, over UDP and TCP. */
  address: string;
  /** How often a name was queried, over UDP or TCP. */
  questions(name: string): number;
  close(): void;
};

/** A name server on the loopback interface. @param zones all the names it knows; changes apply to the next query. */
export async function startNameServer(zones: Record<string, Zone>): Promise<NameServer> {
  const asked = new Map<string, number>();
  const askedBefore = new Set<string>();
  const answer = (query: Buffer, over: 'udp' | 'tcp'): Buffer | null => {
    const { name, type, end } = readQuestion(query);
    asked.set(name, (asked.get(name) ?? 0) + 1);
    const zone = zones[name] ?? 'NXDOMAIN';
    if (zone === 'silence') return null;
    const question = `${name} ${type}`;
    const isRepeated = askedBefore.has(question);
    askedBefore.add(question);
    if (typeof zone === 'object' && (isRepeated ? zone.losesRepeated : zone.losesFirst) === true) return null;
    const records = typeof zone === 'string' ? {} : zone;
    if (records.silentFor !== undefined && types[records.silentFor] === type) return null;
    const isCut = records.truncated === true && over === 'udp';
    const entries = isCut ? [] : recordsOf(records, type);
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    // A response, recursion requested and available, perhaps truncated, with the error code.
    header.writeUInt16BE(0x8180 | (isCut ? 0x0200 : 0) | (typeof zone === 'string' ? codes[zone] : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(entries.length, 6);
    return Buffer.concat([header, query.subarray(12, end), ...entries]);
  };
  const { tcp, udp } = await listenOnBoth((query) => answer(query, 'tcp'));
  const { port } = udp.address();
  udp.on('message', (query, from) => {
    const response = answer(query, 'udp');
    const { name, type } = readQuestion(query);
    const zone = zones[name];
    const isLate = typeof zone === 'object' && zone.lateFor !== undefined && types[zone.lateFor] === type;
    const reply = (): void => {
      if (response !== null) udp.send(response, from.port, from.address);
    };
    if (isLate) setTimeout(reply, zone.lateMs ?? LATE_MS);
    else reply();
  });
  return {
    address: `127.0.0.1:${port}`,
    questions: (name) => asked.get(name) ?? 0,
    close() {
      udp.close();
      tcp.close();
    },
  };
}

/** The same port for UDP and TCP. A port that is free for TCP may be in use for UDP, by any resolver on the machine: then it tries another. */
async function listenOnBoth(answerTcp: (query: Buffer) => Buffer | null) {
  for (;;) {
    const tcp = await listenTcp(answerTcp);
    const udp = createSocket('udp4');
    try {
      udp.bind((tcp.server.address() as AddressInfo).port, '127.0.0.1');
      await once(udp, 'listening');
      return { tcp, udp };
    } catch (error) {
      tcp.close();
      udp.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** Over TCP each message is preceded by its length. */
async function listenTcp(answer: (query: Buffer) => Buffer | null): Promise<{ server: Server; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length > 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const response = answer(received.subarray(2, end));
        received = received.subarray(end);
        if (response === null) continue;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(response.length);
        socket.write(Buffer.concat([length, response]));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { server, close };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** The records of the requested type, after the aliases that lead to them. */
function recordsOf({ a = [], aaaa = [], cname = [], ttl = 60 }: Records, type: number): Buffer[] {
  let owner: Buffer | undefined;
  const aliases = [cname].flat().map((target) => {
    const alias = record(types.cname, ttl, nameBytes(target), owner);
    owner = nameBytes(target);
    return alias;
  });
  if (type === types.a) return [...aliases, ...a.map((ip) => record(types.a, ttl, ipv4Bytes(ip), owner))];
  if (type === types.aaaa) return [...aliases, ...aaaa.map((ip) => record(types.aaaa, ttl, ipv6Bytes(ip), owner))];
  return aliases;
}

/** Without an owner, the record belongs to the queried name, at 0xc00c. */
function record(type: number, ttl: number, data: Buffer, owner: Buffer = Buffer.from([0xc0, 0x0c])): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(ttl, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.alloc(1),
  ]);

const ipv4Bytes = (address: string): Buffer => Buffer.from(address.split('.').map(Number));

/** @param address with all eight groups. */
const ipv6Bytes = (address: string): Buffer =>
  Buffer.concat(address.split(':').map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
