-- Whoever looks at a wallet's transfers looks for those that pay nothing. Among all transfers of a busy wallet they are few.
create index transfer_idle on transfer (network, recipient, block_timestamp) where payment_id is null and phase <> 'retracted';

drop index transfer_wallet;
