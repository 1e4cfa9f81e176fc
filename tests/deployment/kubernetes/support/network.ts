import { BlockList, isIPv6 } from 'node:net';
import { ofKind, selects, type KubernetesObject, type Labels } from './objects.ts';

/** A sender or receiver: a pod by its labels, in a namespace by its name. */
export type Party = { name: string; namespace: string; labels: Labels };
/** A party outside the cluster. */
type Address = { address: string };

type Port = { protocol?: string; port?: number; endPort?: number };
type Peer = { podSelector?: object; namespaceSelector?: object; ipBlock?: { cidr: string; except?: string[] } };
type Rule = { from?: Peer[]; to?: Peer[]; ports?: Port[] };
type Policy = { podSelector: object; policyTypes: string[]; ingress?: Rule[]; egress?: Rule[] };

/** What the network policies allow, evaluated as a network plug-in does. */
export class Network {
  readonly #namespace = 'quittance';
  readonly #policies: Policy[];

  constructor(objects: readonly KubernetesObject[]) {
    this.#policies = ofKind(objects, 'NetworkPolicy').map(({ spec }) => spec as Policy);
  }

  /** Whether a TCP connection is possible: both ends must allow it. */
  lets(from: Party, to: Party, port: number): boolean {
    return this.sends(from, to, port) && this.receives(from, to, port);
  }

  sends(from: Party, to: Party, port: number): boolean {
    return this.#allows('Egress', from, to, port);
  }

  receives(from: Party, to: Party, port: number): boolean {
    return this.#allows('Ingress', to, from, port);
  }

  letsOut(from: Party, address: string, port: number): boolean {
    return this.#allows('Egress', from, { address }, port);
  }

  #allows(direction: 'Ingress' | 'Egress', owner: Party, other: Party | Address, port: number): boolean {
    // Other namespaces have their own policies, which we don't know.
    if (owner.namespace !== this.#namespace) return true;
    const own = this.#policies.filter(
      ({ podSelector, policyTypes }) => policyTypes.includes(direction) && selects(podSelector, owner.labels),
    );
    if (own.length === 0) return true;
    const rules = own.flatMap(({ ingress = [], egress = [] }) => (direction === 'Ingress' ? ingress : egress));
    return rules.some(({ from, to, ports }) => {
      const peers = direction === 'Ingress' ? from : to;
      return portMatches(ports, port) && (peers === undefined || peers.some((peer) => this.#isPeer(peer, other)));
    });
  }

  #isPeer({ podSelector, namespaceSelector, ipBlock }: Peer, other: Party | Address): boolean {
    if ('address' in other) return ipBlock !== undefined && contains(ipBlock, other.address);
    if (ipBlock !== undefined) return false;
    const inNamespace = namespaceSelector
      ? selects(namespaceSelector, { 'kubernetes.io/metadata.name': other.namespace })
      : other.namespace === this.#namespace;
    return inNamespace && selects(podSelector ?? {}, other.labels);
  }
}

function portMatches(ports: Port[] | undefined, port: number): boolean {
  if (ports === undefined) return true;
  return ports.some(
    ({ protocol = 'TCP', port: first, endPort }) =>
      protocol === 'TCP' && (first === undefined || (port >= first && port <= (endPort ?? first))),
  );
}

function contains({ cidr, except = [] }: { cidr: string; except?: string[] }, address: string): boolean {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const isIn = (block: string): boolean => {
    const [network = '', prefix = ''] = block.split('/');
    if (isIPv6(network) !== (family === 'ipv6')) return false;
    // A whole family: BlockList does not accept a prefix of 0.
    if (prefix === '0') return true;
    const list = new BlockList();
    list.addSubnet(network, Number(prefix), family);
    return list.check(address, family);
  };
  return isIn(cidr) && !except.some(isIn);
}
