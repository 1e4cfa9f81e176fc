import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What a name server says of a name: addresses, one of DNS's errors, or nothing at all. */
export type Zone = { a?: string[]; aaaa?: string[]; cname?: string } | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'silence';

const codes = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 };
const types = { a: 1, cname: 5, aaaa: 28 };

/** A name server on the loopback interface that knows the given names and no others. */
export async function startNameServer(zones: Record<string, Zone>) {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const zone = zones[name] ?? 'NXDOMAIN';
    if (zone === 'silence') return;
    const records = typeof zone === 'string' ? [] : recordsOf(zone, type);
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    // A response, recursion asked for and offered, with the error code.
    header.writeUInt16BE(0x8180 | (typeof zone === 'string' ? codes[zone] : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, close: () => void socket.close() };
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

/** The records of the asked type; an alias is followed by the addresses of what it stands for. */
function recordsOf(zone: Exclude<Zone, string>, type: number): Buffer[] {
  const alias = zone.cname === undefined ? [] : [record(types.cname, nameBytes(zone.cname))];
  const owner = zone.cname === undefined ? undefined : nameBytes(zone.cname);
  if (type === types.a) return [...alias, ...(zone.a ?? []).map((ip) => record(types.a, ipv4Bytes(ip), owner))];
  if (type === types.aaaa)
    return [...alias, ...(zone.aaaa ?? []).map((ip) => record(types.aaaa, ipv6Bytes(ip), owner))];
  return alias;
}

/** Without an owner the record is of the name that was asked for, to which 0xc00c points. */
function record(type: number, data: Buffer, owner: Buffer = Buffer.from([0xc0, 0x0c])): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(60, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, fixed, data]);
}

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.alloc(1),
  ]);

const ipv4Bytes = (address: string): Buffer => Buffer.from(address.split('.').map(Number));

/** @param address with all eight groups written out. */
const ipv6Bytes = (address: string): Buffer =>
  Buffer.concat(address.split(':').map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
