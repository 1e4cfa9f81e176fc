-- What the merchant chose to be told; see webhookChoices of packages/contracts.
alter table endpoint add column events text[] not null default '{PAID}';

-- Notices: events of other types than PAID. Processes of 0.1.0 know payment_id as the payment whose PAID event it is, one for each
-- payment, so that it stays this and a notice has its payment in a column of its own.
alter table event alter column payment_id drop not null;
-- Null for PAID.
alter table event add column event_type text;
-- Null for a transfer that fits no payment.
alter table event add column notice_payment_id text;
-- What the notice is about, in the words of the message that brought it: of several about the same there is one event.
alter table event add column occurrence text;

-- A merchant's notices wait in a lane of their own, with a circuit of its own, so that they never take a place, or an attempt, of its
-- PAID events. That lane's merchant_id, and its deliveries', is the merchant's id with ':notices' behind it; here is whose it is.
alter table lane add column notices_of text;

-- Of an endpoint that was configured or changed: what the merchant chose to be told from then on.
alter table audit add column events text[] not null default '{}';
