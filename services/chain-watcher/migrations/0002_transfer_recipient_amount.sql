-- For questions about the transfers of one amount in a window: what else reaches the wallet must not make them slow.
create index concurrently transfer_recipient_amount on transfer (network, recipient, amount_units, block_timestamp)
  where phase <> 'retracted';
