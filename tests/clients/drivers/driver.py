"""Answers each line of JSON with one: what the client in Python makes of it. Its folder is in PYTHONPATH."""

import base64
import json
import sys

from quittance import ConfigurationError, Quittance, QuittanceError, WebhookError, verify_webhook


def verify(asked):
    # JSON has no such numbers.
    now = float(asked["clock"]) if "clock" in asked else asked["now"]
    try:
        event = verify_webhook(base64.b64decode(asked["body"]), asked["headers"], asked["keys"], now)
        return {"value": event["event_id"]}
    except ConfigurationError as error:
        return {"configuration": str(error)}
    except WebhookError as error:
        return {"problem": error.problem}


def call(asked):
    client = Quittance(asked["base_url"], asked["api_key"], timeout=asked["timeout"], max_retries=asked["max_retries"])
    method = {
        "create": client.create_payment,
        "details": client.get_payment_details,
        "put_pool": client.put_wallet_pool,
        "pool": client.get_wallet_pool,
        "status": client.get_public_status,
    }
    try:
        return {"value": method[asked["do"]](*asked["arguments"])}
    except QuittanceError as error:
        return {
            "error": {
                "code": error.code,
                "status": error.status,
                "retry_after": error.retry_after,
                "idempotency_key": error.idempotency_key,
                "message": str(error),
            }
        }


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(verify(asked) if asked["do"] == "verify" else call(asked)), flush=True)
