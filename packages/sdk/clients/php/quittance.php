<?php

declare(strict_types=1);

/**
 * Client of the Quittance API and verification of its webhooks. Needs PHP 8.1 or newer, with OpenSSL for https, and nothing else. Copy this
 * file into your project.
 */

namespace Quittance;

/** A failed call. `errorCode` decides what to do: one of the API's codes, or `no_answer`, or `unreadable_answer`. */
final class QuittanceError extends \RuntimeException
{
    /** Set for a creation: repeat it with this key, and no second payment is created. */
    public ?string $idempotencyKey = null;

    /**
     * @param ?float $retryAfter seconds that the server asks to wait; null if it does not say
     * @param list<array{field: string, reason: string}> $invalidFields
     */
    public function __construct(
        public readonly string $errorCode,
        string $message,
        public readonly ?int $status = null,
        public readonly ?float $retryAfter = null,
        public readonly array $invalidFields = [],
    ) {
        parent::__construct($message);
    }
}

/** One merchant's account. Each call is repeated, with the same idempotency key, after 429, 503 or no answer. */
final class Client
{
    private const FIRST_DELAY_SECONDS = 0.25;

    /**
     * @param string $baseUrl everything before /api/v1
     * @param float $timeout seconds without data from the server after which an attempt fails
     * @param float $maxRetryDelay the longest pause between two attempts in seconds; if the server asks for more, the error is thrown
     */
    public function __construct(
        private readonly string $baseUrl,
        #[\SensitiveParameter]
        private readonly ?string $apiKey = null,
        private readonly float $timeout = 10.0,
        private readonly int $maxRetries = 4,
        private readonly float $maxRetryDelay = 10.0,
    ) {
    }

    /**
     * Creates a payment; send the customer to its `payment_url`.
     *
     * @param array<string, mixed> $payment `amount` (text), `wallet_pool` or `merchant_wallet`, `description`, and the optional fields of the
     *     API. Null means that a field is absent
     * @param ?string $idempotencyKey identifies this creation. Use your order's id, so that you can repeat it after a crash.
     * @throws QuittanceError
     */
    public function createPayment(array $payment, ?string $idempotencyKey = null): array
    {
        return $this->request('POST', '/payments', $payment, $idempotencyKey ?? bin2hex(random_bytes(16)));
    }

    /** The current state of a payment, with the transfers that may be for it. @throws QuittanceError */
    public function getPaymentDetails(string $paymentId): array
    {
        return $this->request('GET', '/payments/' . rawurlencode($paymentId) . '/details');
    }

    /**
     * Makes a pool of addresses, or changes it. Payments that exist keep their addresses.
     *
     * @param array<string, mixed> $pool `network`, and `addresses` (with `append` to add them), or `xpub` and `expect_first_address`. Never
     *     a private key
     * @throws QuittanceError
     */
    public function putWalletPool(string $name, array $pool): array
    {
        return $this->request('PUT', '/merchant/wallet-pools/' . rawurlencode($name), $pool);
    }

    /** A pool: its first addresses, and how many of a list are free. @throws QuittanceError */
    public function getWalletPool(string $name): array
    {
        return $this->request('GET', '/merchant/wallet-pools/' . rawurlencode($name));
    }

    /** What anyone with the link can see. Takes the link or the token at its end, and needs no API key. @throws QuittanceError */
    public function getPublicStatus(string $paymentUrl): array
    {
        $token = substr($paymentUrl, (int) strrpos('/' . $paymentUrl, '/'));
        return $this->request('GET', '/payments/' . rawurlencode($token), isPublic: true);
    }

    private function request(
        string $method,
        string $path,
        ?array $payload = null,
        ?string $idempotencyKey = null,
        bool $isPublic = false,
    ): array {
        $headers = ['Accept: application/json'];
        if ($this->apiKey !== null && !$isPublic) {
            $headers[] = "X-API-Key: $this->apiKey";
        }
        if ($idempotencyKey !== null) {
            $headers[] = "Idempotency-Key: $idempotencyKey";
        }
        if ($payload !== null) {
            $headers[] = 'Content-Type: application/json';
        }
        if (strpbrk(implode($headers), "\r\n") !== false) {
            throw new \InvalidArgumentException('a key must have no line breaks');
        }
        $options = [
            'method' => $method,
            'header' => $headers,
            'content' => $payload === null ? '' : json_encode($payload, JSON_THROW_ON_ERROR),
            'timeout' => $this->timeout,
            // An error's body says what is wrong. The API never redirects, and the key must not go elsewhere.
            'ignore_errors' => true,
            'follow_location' => 0,
        ];
        for ($attempt = 0; ; $attempt++) {
            try {
                return $this->once($path, $options);
            } catch (QuittanceError $error) {
                $error->idempotencyKey = $idempotencyKey;
                $pause = self::FIRST_DELAY_SECONDS * 2 ** $attempt * random_int(75, 125) / 100;
                $delay = max($error->retryAfter ?? 0, $pause);
                $mayRepeat = $error->errorCode === 'no_answer' || in_array($error->status, [429, 503], true);
                if (!$mayRepeat || $attempt >= $this->maxRetries || $delay > $this->maxRetryDelay) {
                    throw $error;
                }
            }
            usleep((int) ($delay * 1_000_000));
        }
    }

    /** @param array<string, mixed> $options of the stream's context */
    private function once(string $path, array $options): array
    {
        $noAnswer = "{$options['method']} $path: no answer";
        $url = rtrim($this->baseUrl, '/') . '/api/v1' . $path;
        $stream = @fopen($url, 'rb', false, stream_context_create(['http' => $options]));
        if ($stream === false) {
            throw new QuittanceError('no_answer', $noAnswer . ' (' . (error_get_last()['message'] ?? '') . ')');
        }
        $body = @stream_get_contents($stream);
        ['timed_out' => $isTimedOut, 'wrapper_data' => $lines] = stream_get_meta_data($stream);
        fclose($stream);
        [$status, $headers] = self::readHead($lines);
        // PHP reports neither a body that stops arriving nor a truncated one.
        if ($body === false || $isTimedOut || strlen($body) < (int) ($headers['content-length'] ?? 0)) {
            throw new QuittanceError('no_answer', "$noAnswer in full");
        }
        $answer = jsonObject($body);
        if ($status < 200 || $status > 299) {
            throw self::errorOf($status, $headers, $answer ?? []);
        }
        $notOurs = "$status: the answer is not a JSON object, so it is not the API's; is the base URL right?";
        return $answer ?? throw new QuittanceError('unreadable_answer', $notOurs, $status);
    }

    /**
     * @param list<string> $lines
     * @return array{int, array<string, string>} the status, and headers by lower-case name
     */
    private static function readHead(array $lines): array
    {
        $status = 0;
        $headers = [];
        foreach ($lines as $line) {
            if (preg_match('~^HTTP/\S+ ([0-9]{3})~', $line, $match)) {
                // The lines of an interim answer, such as 100, may come before those of the final one.
                [$status, $headers] = [(int) $match[1], []];
            } elseif (str_contains($line, ':')) {
                [$name, $value] = explode(':', $line, 2);
                $headers[strtolower($name)] = trim($value);
            }
        }
        return [$status, $headers];
    }

    /** @param array<string, mixed> $body empty if it is not the API's: an edge or a proxy may answer with a page */
    private static function errorOf(int $status, array $headers, array $body): QuittanceError
    {
        $detail = $body['detail'] ?? null;
        $invalidFields = is_array($detail) && array_is_list($detail) ? $detail : [];
        $text = match (true) {
            is_string($detail) => $detail,
            $invalidFields !== [] => implode('; ', array_map(fn ($item) => "{$item['field']} {$item['reason']}", $invalidFields)),
            default => $detail['message'] ?? 'no explanation',
        };
        $code = $body['code'] ?? match ($status) {
            401 => 'unauthorized',
            404 => 'not_found',
            429 => 'rate_limited',
            502, 503, 504 => 'unavailable',
            default => $status >= 500 ? 'internal_error' : 'unreadable_answer',
        };
        $retryAfter = self::retryAfter($headers['retry-after'] ?? '');
        return new QuittanceError($code, "$status: $text", $status, $retryAfter, $invalidFields);
    }

    /** Seconds, from seconds or from a date. */
    private static function retryAfter(string $text): ?float
    {
        if (preg_match('/^[0-9]{1,9}$/D', $text)) {
            return (float) $text;
        }
        $at = \DateTimeImmutable::createFromFormat(\DateTimeInterface::RFC7231, $text);
        return $at === false ? null : max(0.0, $at->getTimestamp() - microtime(true));
    }
}

/** The request must not be trusted. `problem` says why; the sender doesn't need to know it. */
final class WebhookError extends \RuntimeException
{
    public function __construct(public readonly string $problem)
    {
        parent::__construct($problem);
    }
}

/**
 * Your keys cannot verify any request. This says nothing about the request, so answer 500: the sender repeats the event, and nothing is
 * lost once the configuration is right. The message never contains a key.
 */
final class ConfigurationError extends \LogicException
{
}

const TOLERANCE_SECONDS = 300;

/** The largest event has less than 10 KiB. Read no more of a request than this, and refuse a longer one with 413. */
const MAX_BODY_BYTES = 65_536;

/**
 * Every signing key that was ever issued: 32 random bytes in base64url, or in standard base64 with its padding. An HMAC accepts an empty
 * key like any other, and then anyone could sign.
 */
const SIGNING_KEY = '~^whsec_[A-Za-z0-9+/_-]{43,}=?$~D';

/**
 * Checks that a request to your endpoint is an event of Quittance: that these bytes were signed with one of your keys, recently. You still
 * have to compare its content with the order: that it is one of yours, its amount, and the status PAID.
 *
 * @param string $rawBody the raw bytes: file_get_contents('php://input', length: MAX_BODY_BYTES + 1), after checkHeaders()
 * @param array<string, string|list<string>> $headers by name in any case: getallheaders(), or a framework's headers
 * @param array<string, string> $keys signing keys by id. After a rotation keep the old one for five minutes.
 * @param ?int $now Unix seconds, by default the clock's; PHP itself throws a TypeError for NAN, INF and text
 * @throws WebhookError when the request must not be trusted
 * @throws ConfigurationError when the keys are wrong, for any request
 */
function verifyWebhook(string $rawBody, array $headers, #[\SensitiveParameter] array $keys, ?int $now = null): array
{
    checkKeys($keys);
    [$timestamp, $signature, $eventId, $keyId] = checkHeaders($headers);
    if (!preg_match('/^[0-9]{1,12}$/D', $timestamp)) {
        throw new WebhookError('timestamp_malformed');
    }
    if (abs(($now ?? time()) - (int) $timestamp) > TOLERANCE_SECONDS) {
        throw new WebhookError('timestamp_out_of_tolerance');
    }
    $key = $keys[$keyId] ?? throw new WebhookError('key_unknown');
    if (!hash_equals('v1=' . hash_hmac('sha256', "$timestamp.$rawBody", $key), $signature)) {
        throw new WebhookError('signature_wrong');
    }
    $event = jsonObject($rawBody) ?? throw new WebhookError('body_unreadable');
    if (($event['event_id'] ?? null) !== $eventId) {
        throw new WebhookError('event_id_differs');
    }
    return $event;
}

/**
 * Checks that the headers of a webhook exist. Call it before you read the body, so that the body of an unknown sender is never read.
 *
 * @param array<string, string|list<string>> $headers
 * @return array{string, string, string, string} timestamp, signature, event id and key id
 * @throws WebhookError header_missing
 */
function checkHeaders(array $headers): array
{
    $names = ['X-Service-Timestamp', 'X-Service-Signature', 'X-Service-Event-ID', 'X-Service-Key-ID'];
    return array_map(fn (string $name): string => onlyHeader($headers, $name), $names);
}

/** @throws ConfigurationError without an id: if id and key were swapped, it is the key */
function checkKeys(#[\SensitiveParameter] array $keys): void
{
    if (array_is_list($keys)) {
        throw new ConfigurationError('there must be signing keys, by their ids');
    }
    foreach ($keys as $key) {
        if (!is_string($key) || !preg_match(SIGNING_KEY, $key)) {
            throw new ConfigurationError('every signing key must be whsec_ and at least 43 characters of base64');
        }
    }
}

/** A header that occurs twice has no value on which both sides agree. */
function onlyHeader(array $headers, string $name): string
{
    $values = [];
    foreach ($headers as $key => $value) {
        if (strcasecmp((string) $key, $name) === 0) {
            array_push($values, ...array_values((array) $value));
        }
    }
    if (count($values) !== 1 || !is_string($values[0]) || $values[0] === '') {
        throw new WebhookError('header_missing');
    }
    return $values[0];
}

/** @return ?array<string, mixed> null for anything but a JSON object in UTF-8 */
function jsonObject(string $text): ?array
{
    return is_object(json_decode($text)) ? json_decode($text, true) : null;
}
