-- The amount of the payment that has this wallet for itself, in millionths of a USDT; null while payments share it.
alter table watch add column alone_units bigint;

-- The amount that decides about finality and agreement, in base units, when it is more than the transfer's own: that of the payment which
-- it is a part of. Many small parts of a large payment need the same proof as one large transfer.
alter table transfer add column judged_units numeric(78);
