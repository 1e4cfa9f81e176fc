-- A refused sign-in is audited too, and whoever tried may be nobody that we know.
alter table operator_audit alter column operator drop not null;
