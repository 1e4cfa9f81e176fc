<?php

declare(strict_types=1);

/**
 * A small shop: takes an order, creates its payment, and receives the webhook that says it is paid. Put it next to quittance.php:
 *
 *   php receiver.php order 1007 49.90       creates a payment; needs QUITTANCE_URL, QUITTANCE_API_KEY and WALLET_POOL
 *   php -S 127.0.0.1:3000 receiver.php      accepts webhooks; needs SIGNING_KEYS, such as {"whk_…":"whsec_…"}
 *
 * In production, run the second with PHP-FPM behind a server that terminates TLS. It needs the extension pdo_sqlite. PHP reads a body of up
 * to post_max_size before this file runs: give the server in front the same limit as here, such as nginx's client_max_body_size 64k.
 */

use Quittance\Client;
use Quittance\WebhookError;

use function Quittance\checkHeaders;
use function Quittance\verifyWebhook;

use const Quittance\MAX_BODY_BYTES;

require __DIR__ . '/quittance.php';

function database(): PDO
{
    $database = new PDO('sqlite:' . (getenv('DATABASE') ?: 'shop'), options: [PDO::ATTR_TIMEOUT => 10]);
    $database->exec('create table if not exists event (event_id text primary key)');
    $database->exec('create table if not exists shop_order
        (order_id text primary key, payment_id text not null unique, amount text not null, paid_by text)');
    return $database;
}

/** @return int the number of changed rows */
function change(PDO $database, string $sql, array $values): int
{
    $statement = $database->prepare($sql);
    $statement->execute($values);
    return $statement->rowCount();
}

function placeOrder(string $orderId, string $amount): void
{
    $quittance = new Client(getenv('QUITTANCE_URL'), getenv('QUITTANCE_API_KEY'));
    $payment = $quittance->createPayment([
        'amount' => $amount,
        // An address of the pool, for this payment alone. WALLET is one address for all payments.
        'wallet_pool' => getenv('WALLET_POOL') ?: null,
        'merchant_wallet' => getenv('WALLET') ?: null,
        'description' => "Order $orderId",
        'order_id' => $orderId,
    ], "order-$orderId");
    // `amount` of the answer is what the customer has to send: with a unique amount a little more than the price.
    $row = [$orderId, $payment['payment_id'], $payment['amount']];
    change(database(), 'insert or ignore into shop_order (order_id, payment_id, amount) values (?, ?, ?)', $row);
    echo $payment['payment_url'], "\n";
}

/** Records the event and does its work in one transaction, so that an event that arrives twice, or twice at once, has one effect. */
function handleOnce(array $event): void
{
    $database = database();
    $database->exec('begin immediate');
    $isNew = change($database, 'insert or ignore into event values (?)', [$event['event_id']]) === 1;
    $isPaid = $isNew && $event['status'] === 'PAID' && markPaid($database, $event);
    $database->exec('commit');
    if ($isPaid) {
        error_log("paid {$event['payment_id']} {$event['expected_amount']}");
    } elseif ($isNew && $event['status'] === 'PAID') {
        error_log("look into {$event['event_id']} of {$event['payment_id']}");
    }
}

/** Only one of our orders, with this amount, that is not paid yet. Code that ships goods belongs in the same transaction. */
function markPaid(PDO $database, array $event): bool
{
    $sql = 'update shop_order set paid_by = ? where payment_id = ? and amount = ? and paid_by is null';
    return change($database, $sql, [$event['event_id'], $event['payment_id'], $event['expected_amount']]) === 1;
}

/** @return int the status of the answer */
function receive(): int
{
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        return 405;
    }
    if ((int) ($_SERVER['CONTENT_LENGTH'] ?? 0) > MAX_BODY_BYTES) {
        return 413;
    }
    try {
        $headers = getallheaders();
        checkHeaders($headers);
        // The length may be missing or wrong.
        $body = file_get_contents('php://input', length: MAX_BODY_BYTES + 1);
        if (strlen($body) > MAX_BODY_BYTES) {
            return 413;
        }
        handleOnce(verifyWebhook($body, $headers, json_decode(getenv('SIGNING_KEYS'), true)));
        return 204;
    } catch (WebhookError) {
        return 400;
    } catch (Throwable $error) {
        // The event could not be saved, or our keys are wrong, so it must be sent again.
        error_log((string) $error);
        return 500;
    }
}

if (PHP_SAPI === 'cli') {
    placeOrder($argv[2], $argv[3]);
} else {
    $status = receive();
    http_response_code($status);
    if ($status === 413) {
        header('Connection: close');
    }
}
