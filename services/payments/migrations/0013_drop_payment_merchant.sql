-- payment_merchant_times has all that it had.
drop index payment_merchant;
