-- Every merchant is told of PAID. Up to release 0.2.0 it could be left out.
update endpoint set events = array_prepend('PAID', events) where not 'PAID' = any(events);
