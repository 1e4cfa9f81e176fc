-- How often in a row the expiry loop could not settle the payment by itself, whatever the others of its group came to; its pauses
-- grow with it. Null for none: create_payment() of 0.1.0 writes whole rows, and knows no column that it must give.
alter table payment add column expiry_failures integer;
