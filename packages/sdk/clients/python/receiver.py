"""
A small shop: takes an order, creates its payment, and receives the webhook that says it is paid. Put it next to quittance.py:

  python3 receiver.py order 1007 49.90    creates a payment; needs QUITTANCE_URL, QUITTANCE_API_KEY and WALLET_POOL
  python3 receiver.py                     listens on PORT; needs SIGNING_KEYS, such as {"whk_…":"whsec_…"}

Terminate TLS in a server in front of it.
"""

import json
import os
import re
import sqlite3
import sys
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from quittance import MAX_BODY_BYTES, Quittance, WebhookError, check_headers, verify_webhook


def database():
    connection = sqlite3.connect(os.environ.get("DATABASE", "shop"), timeout=10, isolation_level=None)
    connection.execute("create table if not exists event (event_id text primary key)")
    connection.execute(
        "create table if not exists shop_order"
        " (order_id text primary key, payment_id text not null unique, amount text not null, paid_by text)"
    )
    return connection


def place_order(order_id, amount):
    quittance = Quittance(os.environ["QUITTANCE_URL"], os.environ["QUITTANCE_API_KEY"])
    payment = quittance.create_payment(
        {
            "amount": amount,
            # An address of the pool, for this payment alone. WALLET is one address for all payments.
            "wallet_pool": os.environ.get("WALLET_POOL"),
            "merchant_wallet": os.environ.get("WALLET"),
            "description": f"Order {order_id}",
            "order_id": order_id,
        },
        idempotency_key=f"order-{order_id}",
    )
    # `amount` of the answer is what the customer has to send: with a unique amount a little more than the price.
    row = (order_id, payment["payment_id"], payment["amount"])
    with closing(database()) as connection:
        connection.execute("insert or ignore into shop_order (order_id, payment_id, amount) values (?, ?, ?)", row)
    print(payment["payment_url"])


def handle_once(event):
    """Records the event and does its work in one transaction, so that an event that arrives twice, or twice at once, has one effect."""
    with closing(database()) as connection:
        connection.execute("begin immediate")
        is_new = connection.execute("insert or ignore into event values (?)", (event["event_id"],)).rowcount == 1
        is_paid = is_new and event["status"] == "PAID" and mark_paid(connection, event)
        connection.execute("commit")
    if is_paid:
        print("paid", event["payment_id"], event["expected_amount"], flush=True)
    elif is_new and event["status"] == "PAID":
        print("look into", event["event_id"], "of", event["payment_id"], flush=True)


def mark_paid(connection, event):
    """Only one of our orders, with this amount, that is not paid yet. Code that ships goods belongs in the same transaction."""
    paid = connection.execute(
        "update shop_order set paid_by = ? where payment_id = ? and amount = ? and paid_by is null",
        (event["event_id"], event["payment_id"], event["expected_amount"]),
    )
    return paid.rowcount == 1


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        length = self.announced_length()
        if length is None:
            return self.answer(411)
        if length > MAX_BODY_BYTES:
            return self.answer(413)
        try:
            check_headers(self.headers)
        except WebhookError:
            return self.answer(400)
        # If the body arrives too slowly, `timeout` closes the connection.
        body = self.rfile.read(length)
        try:
            handle_once(verify_webhook(body, self.headers, json.loads(os.environ["SIGNING_KEYS"])))
        except WebhookError:
            return self.answer(400)
        except Exception as error:
            # The event could not be saved, or our keys are wrong, so it must be sent again.
            print(repr(error), file=sys.stderr, flush=True)
            return self.answer(500)
        self.answer(204)

    def announced_length(self):
        """None unless the headers have it once: a proxy on the way may use the other length, or chunks."""
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or len(lengths) != 1:
            return None
        # Python refuses to parse a number of thousands of digits.
        return int(lengths[0]) if re.fullmatch("[0-9]{1,18}", lengths[0]) else None

    def answer(self, status):
        # Every answer closes the connection, so that the unread rest of a body is never read as a request.
        self.send_response(status)
        self.send_header("Connection", "close")
        self.end_headers()


class Server(ThreadingHTTPServer):
    request_queue_size = 128


if sys.argv[1:2] == ["order"]:
    place_order(*sys.argv[2:])
else:
    server = Server(("", int(os.environ["PORT"])), Receiver)
    print(f"listening on {server.server_port}", flush=True)
    server.serve_forever()
