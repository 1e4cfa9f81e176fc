"""Verifies the vectors of payment proofs, as a second wording of the rules. Usage: verify_proofs.py <vectors.json> <networks.json>

Prints JSON: for each vector the step that refuses it, or null. Keccak-256 is that of pycryptodome.
"""

import json
import sys
from datetime import datetime
from decimal import Decimal

from Cryptodome.Hash import keccak

TRANSFER = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


class Refused(Exception):
    pass


def hashed(data):
    return keccak.new(digest_bits=256, data=data).digest()


def hold(step, condition):
    if not condition:
        raise Refused(step)


def from_hex(text):
    return bytes.fromhex(text[2:])


def decode(data):
    """The RLP item at the beginning of the bytes, and the rest."""
    first, rest = data[0], data[1:]
    if first < 0x80:
        return data[:1], rest
    size = first - (0xC0 if first >= 0xC0 else 0x80)
    if size > 55:
        size, rest = int.from_bytes(rest[: size - 55], "big"), rest[size - 55 :]
    content, rest = rest[:size], rest[size:]
    if first < 0xC0:
        return content, rest
    items = []
    while content:
        item, content = decode(content)
        items.append(item)
    return items, rest


def key_of(index):
    data = index.to_bytes((index.bit_length() + 7) // 8, "big")
    return data if len(data) == 1 and data[0] < 0x80 else bytes([0x80 + len(data)]) + data


def value_in_trie(root, index, nodes):
    path, name = key_of(index).hex(), root
    for depth, node in enumerate(nodes):
        hold("branch", hashed(node) == name)
        items, _ = decode(node)
        if len(items) == 17:
            name, path = items[int(path[0], 16)], path[1:]
            continue
        steps = items[0].hex()
        is_leaf = steps[0] in "23"
        steps = steps[1:] if steps[0] in "13" else steps[2:]
        hold("branch", path.startswith(steps))
        path = path[len(steps) :]
        if is_leaf:
            hold("branch", path == "" and depth == len(nodes) - 1)
            return items[1]
        name = items[1]
    raise Refused("branch")


def transfer_units(receipt, proof, log_index):
    (status, _, _, logs, *_), _ = decode(receipt[1:] if receipt[0] < 0x80 else receipt)
    hold("receipt", status == b"\x01")
    hold("transfer", log_index < len(logs))
    address, topics, data = logs[log_index]
    hold("transfer", address == from_hex(proof["token"]) and len(topics) == 3 and topics[0].hex() == TRANSFER)
    wallet = from_hex(proof["payment"]["merchant_wallet"])
    hold("transfer", topics[2] == bytes(12) + wallet and len(data) == 32 and any(data))
    return int.from_bytes(data, "big")


def verify(proof, block_hash, networks):
    network = networks.get(proof["payment"]["network"])
    hold("network", network is not None and network["chain_id"] == proof["chain_id"])
    hold("network", network["usdt_contract"].lower() == proof["token"])
    block = proof["block"]
    hold("block", block["hash"] == block_hash)
    header = from_hex(block["header"])
    hold("header", hashed(header) == from_hex(block["hash"]))
    fields, _ = decode(header)
    hold("header", int.from_bytes(fields[8], "big") == block["number"])
    time = datetime.fromisoformat(block["timestamp"].replace("Z", "+00:00"))
    hold("header", int.from_bytes(fields[11], "big") == time.timestamp())
    received, places = 0, set()
    for one in proof["receipts"]:
        receipt = value_in_trie(fields[5], one["index"], [from_hex(node) for node in one["nodes"]])
        hold("branch", receipt == from_hex(one["rlp"]))
        received += transfer_units(receipt, proof, one["log_index"])
        places.add((one["index"], one["log_index"]))
    hold("transfer", len(places) == len(proof["receipts"]))
    payment = proof["payment"]
    hold("amount", received >= Decimal(payment.get("accepted_amount", payment["amount"])).scaleb(network["decimals"]))


def step_of(vector, networks):
    try:
        verify(vector["proof"], vector["block_hash"], networks)
        return None
    except Refused as refused:
        return str(refused)


def main(vectors_file, networks_file):
    with open(vectors_file, encoding="utf-8") as file:
        vectors = json.load(file)
    with open(networks_file, encoding="utf-8") as file:
        networks = {network["id"]: network for network in json.load(file)}
    print(json.dumps({each["name"]: step_of(each, networks) for each in vectors["proofs"] + vectors["refused"]}))


main(*sys.argv[1:])
