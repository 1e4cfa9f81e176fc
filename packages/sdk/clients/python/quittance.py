"""Client of the Quittance API and verification of its webhooks. Needs Python 3.9 or newer. Copy this file into your project."""

import hashlib
import hmac
import http.client
import json
import math
import numbers
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from email.utils import parsedate_to_datetime

FIRST_DELAY_SECONDS = 0.25
TOLERANCE_SECONDS = 300
# The largest event has less than 10 KiB. Read no more of a request than this, and refuse a longer one with 413.
MAX_BODY_BYTES = 65_536
# Every signing key that was ever issued: 32 random bytes in base64url, or in standard base64 with its padding. An HMAC accepts an empty key
# like any other, and then anyone could sign.
SIGNING_KEY = re.compile(r"whsec_[A-Za-z0-9+/_-]{43,}=?")


class QuittanceError(Exception):
    """A failed call. `code` decides what to do: one of the API's codes, or `no_answer`, or `unreadable_answer`."""

    def __init__(self, code, message, status=None, retry_after=None, invalid_fields=(), idempotency_key=None):
        super().__init__(message)
        self.code = code
        self.status = status
        self.retry_after = retry_after  # Seconds that the server asks to wait; None if it does not say.
        self.invalid_fields = list(invalid_fields)
        self.idempotency_key = idempotency_key  # For a creation: repeat it with this key, and no second payment is created.


class Quittance:
    """
    One merchant's account. Each call is repeated, with the same idempotency key, after 429, 503 or no answer.

    :param base_url: everything before /api/v1.
    :param timeout: seconds without data from the server after which an attempt fails.
    :param max_retry_delay: the longest pause between two attempts in seconds; if the server asks for more, the error is raised.
    """

    def __init__(self, base_url, api_key=None, timeout=10.0, max_retries=4, max_retry_delay=10.0):
        self._base_url = base_url.rstrip("/") + "/api/v1"
        self._api_key = api_key
        self._timeout = timeout
        self._max_retries = max_retries
        self._max_retry_delay = max_retry_delay

    def create_payment(self, payment, idempotency_key=None):
        """
        Creates a payment; send the customer to its `payment_url`.

        :param payment: `amount` (text), `wallet_pool` or `merchant_wallet`, `description`, and the optional fields of the API. None means
            that a field is absent.
        :param idempotency_key: identifies this creation. Use your order's id, so that you can repeat it after a crash.
        """
        key = idempotency_key if idempotency_key is not None else str(uuid.uuid4())
        return self._request("POST", "/payments", payment, idempotency_key=key)

    def get_payment_details(self, payment_id):
        """The current state of a payment, with the transfers that may be for it."""
        return self._request("GET", f"/payments/{_quote(payment_id)}/details")

    def put_wallet_pool(self, name, pool):
        """
        Makes a pool of addresses, or changes it. Payments that exist keep their addresses.

        :param pool: `network`, and `addresses` (with `append` to add them), or `xpub` and `expect_first_address`. Never a private key.
        """
        return self._request("PUT", f"/merchant/wallet-pools/{_quote(name)}", pool)

    def get_wallet_pool(self, name):
        """A pool: its first addresses, and how many of a list are free."""
        return self._request("GET", f"/merchant/wallet-pools/{_quote(name)}")

    def get_public_status(self, payment_url):
        """What anyone with the link can see. Takes the link or the token at its end, and needs no API key."""
        return self._request("GET", f"/payments/{_quote(payment_url.rsplit('/', 1)[-1])}", is_public=True)

    def _request(self, method, path, payload=None, idempotency_key=None, is_public=False):
        headers = {"Accept": "application/json"}
        if self._api_key is not None and not is_public:
            headers["X-API-Key"] = self._api_key
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        if payload is not None:
            headers["Content-Type"] = "application/json"
        body = None if payload is None else json.dumps(payload).encode()
        attempt = 0
        while True:
            try:
                return self._once(urllib.request.Request(self._base_url + path, body, headers, method=method))
            except QuittanceError as error:
                error.idempotency_key = idempotency_key
                delay = max(error.retry_after or 0, FIRST_DELAY_SECONDS * 2**attempt * random.uniform(0.75, 1.25))
                may_repeat = error.code == "no_answer" or error.status in (429, 503)
                if not may_repeat or attempt >= self._max_retries or delay > self._max_retry_delay:
                    raise
            time.sleep(delay)
            attempt += 1

    def _once(self, request):
        try:
            with _opener.open(request, timeout=self._timeout) as response:
                status, body = response.status, response.read()
        except urllib.error.HTTPError as error:
            raise _error_of(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise QuittanceError("no_answer", f"{request.method} {request.selector}: {error!r}") from error
        answer = _json_object(body)
        if answer is None:
            message = f"{status}: the answer is not a JSON object, so it is not the API's; is the base URL right?"
            raise QuittanceError("unreadable_answer", message, status)
        return answer


class WebhookError(Exception):
    """The request must not be trusted. `problem` says why; the sender doesn't need to know it."""

    def __init__(self, problem):
        super().__init__(problem)
        self.problem = problem


class ConfigurationError(Exception):
    """
    Your keys or your clock cannot verify any request. This says nothing about the request, so answer 500: the sender repeats the event,
    and nothing is lost once the configuration is right. The message never contains a key.
    """


def verify_webhook(raw_body, headers, keys, now=None):
    """
    Checks that a request to your endpoint is an event of Quittance: that these bytes were signed with one of your keys, recently. You still
    have to compare its content with the order: that it is one of yours, its amount, and the status PAID.

    :param raw_body: the raw bytes, before any parser; read at most MAX_BODY_BYTES, after check_headers().
    :param headers: a mapping, or pairs, in any case.
    :param keys: signing keys by id. After a rotation keep the old one for five minutes.
    :param now: Unix seconds, by default the clock's.
    :raises WebhookError: when the request must not be trusted.
    :raises ConfigurationError: when `keys` or `now` are wrong, for any request.
    """
    _check_configuration(keys, now)
    timestamp, signature, event_id, key_id = check_headers(headers)
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        raise WebhookError("timestamp_malformed")
    if abs(int(time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise WebhookError("timestamp_out_of_tolerance")
    if key_id not in keys:
        raise WebhookError("key_unknown")
    signed = timestamp.encode() + b"." + raw_body
    expected = "v1=" + hmac.new(keys[key_id].encode(), signed, hashlib.sha256).hexdigest()
    # The format is checked first, because texts beyond ASCII cannot be compared.
    if not re.fullmatch("v1=[0-9a-f]{64}", signature) or not hmac.compare_digest(signature, expected):
        raise WebhookError("signature_wrong")
    event = _json_object(raw_body)
    if event is None:
        raise WebhookError("body_unreadable")
    if event.get("event_id") != event_id:
        raise WebhookError("event_id_differs")
    return event


def check_headers(headers):
    """
    Checks that the headers of a webhook exist. Call it before you read the body, so that the body of an unknown sender is never read.

    :returns: timestamp, signature, event id and key id.
    :raises WebhookError: `header_missing`
    """
    names = ("X-Service-Timestamp", "X-Service-Signature", "X-Service-Event-ID", "X-Service-Key-ID")
    return [_only_header(headers, name) for name in names]


def _check_configuration(keys, now):
    is_number = isinstance(now, numbers.Real) and not isinstance(now, bool)
    # NaN and infinite numbers fail this comparison.
    if now is not None and not (is_number and abs(now) < math.inf):
        raise ConfigurationError("the clock must be a number of seconds")
    values = list(keys.values()) if hasattr(keys, "values") else []
    if not values:
        raise ConfigurationError("there must be signing keys, by their ids")
    # No id is named: if id and key were swapped, it is the key.
    if not all(isinstance(key, str) and SIGNING_KEY.fullmatch(key) for key in values):
        raise ConfigurationError("every signing key must be whsec_ and at least 43 characters of base64")


def _only_header(headers, name):
    """A header that occurs twice has no value on which both sides agree."""
    pairs = headers.items() if hasattr(headers, "items") else headers
    values = [value for key, value in pairs if key.lower() == name.lower()]
    if len(values) != 1 or not isinstance(values[0], str) or values[0] == "":
        raise WebhookError("header_missing")
    return values[0]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The API never redirects, and the key must not go elsewhere."""

    def redirect_request(self, *_arguments):
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _error_of(response):
    """The error for an answer that is not a success. Its body may be anything: an edge or a proxy may answer with a page."""
    try:
        body = _json_object(response.read()) or {}
    except (OSError, http.client.HTTPException):
        body = {}
    detail = body.get("detail")
    invalid_fields = detail if isinstance(detail, list) else []
    if isinstance(detail, dict):
        detail = detail.get("message")
    elif invalid_fields:
        detail = "; ".join(f"{item.get('field')} {item.get('reason')}" for item in invalid_fields)
    code = body.get("code") or _code_of_status(response.code)
    message = f"{response.code}: {detail or response.reason}"
    return QuittanceError(code, message, response.code, _retry_after(response.headers.get("Retry-After")), invalid_fields)


def _code_of_status(status):
    known = {401: "unauthorized", 404: "not_found", 429: "rate_limited"}
    known.update({502: "unavailable", 503: "unavailable", 504: "unavailable"})
    return known.get(status, "internal_error" if status >= 500 else "unreadable_answer")


def _retry_after(text):
    """Seconds, from seconds or from a date."""
    if text is None:
        return None
    if re.fullmatch("[0-9]{1,9}", text):
        return int(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _json_object(body):
    try:
        value = json.loads(body.decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _quote(segment):
    return urllib.parse.quote(segment, safe="")
