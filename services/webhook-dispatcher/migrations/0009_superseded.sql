-- What a PAID event has overtaken is not sent any more. Until now such a notice was noticed only when it was claimed, was called interrupted,
-- and could be retried. Without a lease it is not in flight.
update delivery d
   set status = 'failed', next_attempt_at = null, error_category = 'superseded'
  from event n
  join event paid on paid.payment_id = n.notice_payment_id
 where d.event_id = n.event_id and d.status <> 'delivered' and d.lease_id is null
   and n.event_type in ('payment.checking', 'payment.expired', 'payment.cancelled');
