-- It had payments with a unique amount only. Every payment makes its amount rest now, which payment_slot_history shows.
drop index payment_resting;
