-- What a merchant may say of a payment beyond amount, wallet and description. Null for what it does not say: create_payment() of
-- earlier releases writes whole rows, and knows no column that it must give.
alter table payment
  -- The merchant's own name for its order. Need not be unique.
  add column order_id text,
  -- Names and texts of the merchant's.
  add column metadata jsonb,
  add column return_url text,
  -- The merchant's own text where `amount` is a unique one, chosen by create_payment(). Null: `amount` is that text.
  add column requested_amount text;
