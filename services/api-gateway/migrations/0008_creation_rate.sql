-- How many creations a minute a merchant has, where support has changed the 30 of the contract.
alter table merchant add column creations_per_minute integer check (creations_per_minute between 1 and 600);
