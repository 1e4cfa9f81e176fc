<?php

/** Answers each line of JSON with one: what the client in PHP, which it is given, makes of it. */

declare(strict_types=1);

use Quittance\Client;
use Quittance\ConfigurationError;
use Quittance\QuittanceError;
use Quittance\WebhookError;

require $argv[1];

function verify(array $asked): array
{
    // JSON has no such numbers.
    $now = isset($asked['clock']) ? ['nan' => NAN, 'inf' => INF][$asked['clock']] : $asked['now'];
    try {
        $body = base64_decode($asked['body']);
        return ['value' => Quittance\verifyWebhook($body, $asked['headers'], $asked['keys'], $now)['event_id']];
    } catch (ConfigurationError | TypeError $error) {
        return ['configuration' => $error->getMessage()];
    } catch (WebhookError $error) {
        return ['problem' => $error->problem];
    }
}

function call(array $asked): array
{
    $client = new Client($asked['base_url'], $asked['api_key'], (float) $asked['timeout'], $asked['max_retries']);
    try {
        return ['value' => match ($asked['do']) {
            'create' => $client->createPayment(...$asked['arguments']),
            'details' => $client->getPaymentDetails(...$asked['arguments']),
            'put_pool' => $client->putWalletPool(...$asked['arguments']),
            'pool' => $client->getWalletPool(...$asked['arguments']),
            'status' => $client->getPublicStatus(...$asked['arguments']),
        }];
    } catch (QuittanceError $error) {
        return ['error' => [
            'code' => $error->errorCode,
            'status' => $error->status,
            'retry_after' => $error->retryAfter,
            'idempotency_key' => $error->idempotencyKey,
            'message' => $error->getMessage(),
        ]];
    }
}

while (($line = fgets(STDIN)) !== false) {
    $asked = json_decode($line, true);
    echo json_encode($asked['do'] === 'verify' ? verify($asked) : call($asked)), "\n";
}
