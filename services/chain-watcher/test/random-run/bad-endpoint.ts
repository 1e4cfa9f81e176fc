import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import type { ChainHistory } from './chain-history.ts';
import { distort } from './distort.ts';
import type { FaultKind } from './plan-faults.ts';
import { answerFrom, type Answer, type Call } from './stale-node.ts';

/** What an endpoint does wrong now, and in which share of its answers. */
type Trouble = { fault: FaultKind; share: number; steps: number };

/** A proxy in front of the real node that misbehaves as it is told to. */
export type BadEndpoint = {
  url: string;
  begin(trouble: Trouble): void;
  end(trouble: Trouble): void;
  /** Ends all faults. */
  calm(): void;
  /** How many answers each kind of fault has changed. */
  spoilt: Map<FaultKind, number>;
  /** HTTP requests so far, and those of them that asked for all events above a block. */
  requests(): number;
  requestsAhead(): number;
  close(): Promise<void>;
};

export type EndpointSurroundings = {
  rpcUrl: string;
  token: string;
  chronicle: ChainHistory;
  /** A block is final when this many blocks are above it. */
  finalDepth: number;
  chance: Chance;
};

/** Far longer than any reader waits. */
const STALL_MS = 20_000;

const replies: Partial<Record<FaultKind, { status: number; body: string; headers?: Record<string, string> }>> = {
  'HTTP 429': { status: 429, body: '{"error":"Too Many Requests"}', headers: { 'retry-after': '1' } },
  HTML: {
    status: 502,
    body: '<html><head><title>502 Bad Gateway</title></head></html>',
    headers: { 'content-type': 'text/html' },
  },
  'HTTP 200 with an error': { status: 200, body: '{"Error":"lack of computing resources"}' },
};

export async function badEndpoint(surroundings: EndpointSurroundings): Promise<BadEndpoint> {
  const troubles: Trouble[] = [];
  const spoilt = new Map<FaultKind, number>();
  let [requests, requestsAhead] = [0, 0];
  const note = (fault: FaultKind) => spoilt.set(fault, (spoilt.get(fault) ?? 0) + 1);

  async function respond(body: string, response: ServerResponse): Promise<void> {
    requests += 1;
    if (body.includes('"toBlock":"latest"')) requestsAhead += 1;
    const present = troubles.filter(({ share }) => surroundings.chance.happens(share));
    const has = (fault: FaultKind): boolean => present.some((trouble) => trouble.fault === fault);
    for (const { fault } of present) {
      if (fault === 'dropped') {
        note(fault);
        response.socket?.destroy();
        return;
      }
      const reply = replies[fault];
      if (reply !== undefined) {
        note(fault);
        write(response, reply.status, reply.body, reply.headers);
        return;
      }
    }
    if (has('stalled')) {
      note('stalled');
      await delay(STALL_MS, undefined, { ref: false });
    }
    if (has('slow')) {
      note('slow');
      await delay(surroundings.chance.between(20, 600));
    }
    const text = JSON.stringify(await answer(surroundings, JSON.parse(body) as Call | Call[], present, note));
    if (has('half a body')) {
      note('half a body');
      write(response, 200, text.slice(0, Math.floor(text.length / 2)));
      return;
    }
    write(response, 200, text);
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      respond(Buffer.concat(chunks).toString('utf8'), response).catch(() => response.socket?.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/a-secret-key`,
    begin: (trouble) => void troubles.push(trouble),
    end(trouble) {
      const position = troubles.indexOf(trouble);
      if (position >= 0) troubles.splice(position, 1);
    },
    calm: () => void troubles.splice(0),
    spoilt,
    requests: () => requests,
    requestsAhead: () => requestsAhead,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(
  surroundings: EndpointSurroundings,
  calls: Call | Call[],
  present: readonly Trouble[],
  note: (fault: FaultKind) => void,
): Promise<Answer | Answer[]> {
  const { chronicle, finalDepth, chance } = surroundings;
  const behind = present.find(({ fault }) => fault === 'behind' || fault === 'far behind');
  if (behind !== undefined) note(behind.fault);
  // One view for the whole batch, as of one node.
  const view = behind && chronicle.view(behind.steps);
  const asked = [calls].flat();
  const old = asked.map((call) => (view ? answerFrom(chronicle, view, finalDepth, call) : null));
  const left = asked.filter((_, position) => old[position] === null);
  const real = new Map(left.length === 0 ? [] : (await askAll(surroundings.rpcUrl, left)).map((one) => [one.id, one]));
  const answers = asked.map((call, position): Answer => {
    const told: Answer = old[position] ?? real.get(call.id) ?? {};
    const lie = firstLie(present, { call, answer: told, ...surroundings });
    if (lie !== null) note(lie.fault);
    return { ...(lie?.answer ?? told), ...{ jsonrpc: '2.0', id: call.id } };
  });
  if (!Array.isArray(calls)) return answers[0]!;
  if (!present.some(({ fault }) => fault === 'half a batch') || answers.length < 2) return answers;
  note('half a batch');
  return answers.filter(() => chance.happens(0.5));
}

/** One false statement for each answer: an event that is added to an emptied answer would hide that it was emptied. */
function firstLie(
  present: readonly Trouble[],
  told: Parameters<typeof distort>[1],
): { fault: FaultKind; answer: Answer } | null {
  for (const { fault } of present) {
    const answer = distort(fault, told);
    if (answer !== null) return { fault, answer };
  }
  return null;
}

async function askAll(url: string, calls: Call[]): Promise<Answer[]> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map((call) => ({ ...call, jsonrpc: '2.0' }))),
  });
  return (await response.json()) as Answer[];
}

function write(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}
