-- Every merchant gets PAID events. Up to release 0.2.0 a merchant could choose not to.
update endpoint set events = array_prepend('PAID', events) where not 'PAID' = any(events);
